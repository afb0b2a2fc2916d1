"""ID-04: what is split into tokens can be joined again."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from shakedown.serving.answer import as_dict, as_int, as_list, as_str
from shakedown.serving.exchange import Exchange
from shakedown.serving.judges.verdict import Verdict, Violation


def round_trip(there: Sequence[Exchange], back: Sequence[Exchange]) -> Verdict:
    """Every text comes back as it went.

    Args:
        there: answers of the tokenizer, one a text.
        back: answers of the detokenizer, in the same order.
    """
    pairs = list(zip(there, back, strict=True))
    found = ((there, problem) for there, back in pairs if (problem := _problem(there, back)))
    return Verdict(len(pairs), tuple(Violation(exchange.name, problem) for exchange, problem in found))


def _problem(there: Exchange, back: Exchange) -> str | None:
    for exchange in (there, back):
        if exchange.problem:
            return f"{exchange.request.path}: {exchange.problem}"
    split = as_dict(there.json)
    tokens = as_list(split.get("tokens"))
    if not tokens or as_int(split.get("count")) != len(tokens):
        return f"count is {split.get('count')} for {len(tokens)} tokens"
    sent, returned = (there.request.body or {})["prompt"], as_str(as_dict(back.json).get("prompt"))
    return None if _composed(sent) == _composed(returned) else f"{sent!r} came back as {returned!r}"


def _composed(text: str) -> str:
    """Some tokenizers compose characters (NFC) before they split: to every reader that is the same text."""
    return unicodedata.normalize("NFC", text)
