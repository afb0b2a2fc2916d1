"""Requests of exact length: prompts made with the server's own tokenizer, answers that cannot stop early.

Prompts are fresh for every run. A fixed seed would let the prefix cache answer the second run: measured on a DGX Spark,
TTFT came out 49 times lower (vllm-project/vllm issue 54227).
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import httpx

from shakedown.errors import ServerError
from shakedown.load.target import Target

WORDS = tuple(
    """
    apple bird boat bone book bread bridge brother butter chair cloud coast copper cotton dinner dragon east
    evening field fire fish flower forest garden glass grass hammer hand head hill horse house iron island key
    king lake lamp leaf letter light market memory milk moon morning mountain mouse music night north ocean paper
    party picture plant queen rain ring river road rock salt sand school sea seed ship silver sky snow south star
    stone street sun table thing tower tree village watch water week west wheel wind window winter wood year
    """.split()  # noqa: SIM905 - a hundred quoted words in a column read worse
)
"""Common words: a token each in most vocabularies, so that a prompt has about as many words as tokens."""

LONGEST_TAIL = 64


@dataclass(frozen=True, slots=True)
class Shape:
    """What one request asks for. Lengths in tokens: ``input_tokens`` with the chat template, as ``usage`` counts."""

    input_tokens: int
    output_tokens: int


Count = Callable[[str], int]
"""Text of a user's message -> tokens of the whole prompt, chat template included."""


def prompts(count: Count, input_tokens: int, n: int, seed: int) -> list[str]:
    """``n`` different texts, each of which makes a prompt of exactly ``input_tokens`` tokens.

    Raises:
        ServerError: the template alone is longer, or the tokenizer cannot be steered to that length.
    """
    rng = random.Random(seed)  # noqa: S311 - variety, not secrecy
    empty, per_word = _calibrated(count, input_tokens)
    words = max(1, int((input_tokens - empty) / per_word))
    return [_exact(count, [rng.choice(WORDS) for _ in range(words)], input_tokens, rng) for _ in range(n)]


def _calibrated(count: Count, input_tokens: int) -> tuple[int, float]:
    """(tokens of the template around an empty message, tokens of one word and the space before it)."""
    empty = count("")
    if empty >= input_tokens:
        raise ServerError(
            f"a prompt of {input_tokens} tokens was asked for, and the chat template alone takes {empty}: "
            f"choose a scenario with longer prompts"
        )
    return empty, max(0.25, (count(" ".join(WORDS)) - empty) / len(WORDS))


def _exact(count: Count, words: list[str], target: int, rng: random.Random) -> str:
    """Drop words until the text fits, then fill up with digits, which add at most one token each."""
    text = " ".join(words)
    while (found := count(text)) > target and words:
        words = words[: max(0, len(words) - (found - target))]
        text = " ".join(words)
    for _ in range(max(LONGEST_TAIL, target)):
        if found >= target:
            break
        missing = target - found
        text += "".join(rng.choice("0123456789") for _ in range(missing))
        found = count(text)
    if found != target:
        raise ServerError(
            f"no text was found that makes exactly {target} tokens (nearest: {found}); "
            f"the server's /tokenize does not count as its tokenizer splits"
        )
    return text


def server_count(target: Target, client: httpx.Client) -> Count:
    """Counting by the server's ``/tokenize``, chat template applied.

    Raises (when called):
        ServerError: the route is missing or answers something else.
    """

    def count(text: str) -> int:
        body = {"model": target.model, "messages": _messages(text), "add_generation_prompt": True}
        try:
            response = client.post("/tokenize", json=body)
            return int(response.raise_for_status().json()["count"])
        except (httpx.HTTPError, ValueError, KeyError, TypeError) as error:
            raise ServerError(f"{target.base_url}/tokenize gave no count: {type(error).__name__}: {error}") from error

    return count


def compose(target: Target, shape: Shape, n: int, seed: int) -> list[dict[str, Any]]:
    """Bodies for ``/v1/chat/completions``: exact prompts, fresh by ``seed``, and answers of exact length.

    ``ignore_eos`` and ``min_tokens`` keep the model from stopping, ``max_tokens`` stops it, so that two runs decode the
    same number of tokens whatever the model would like to say.
    """
    with target.client() as client:
        texts = prompts(server_count(target, client), shape.input_tokens, n, seed)
    return [
        {
            "messages": _messages(text),
            "max_tokens": shape.output_tokens,
            "min_tokens": shape.output_tokens,
            "ignore_eos": True,
            "temperature": 0.0,
            "stream": True,
            "stream_options": {"include_usage": True, "continuous_usage_stats": True},
        }
        for text in texts
    ]


def _messages(text: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": text}]
