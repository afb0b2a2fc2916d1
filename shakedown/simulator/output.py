"""One choice, decided before its first token leaves: which tokens, which text, and why it ends."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from shakedown.simulator.model import Model

_FILLER = "and so on, as long as it is asked for, one word after another, "


@dataclass(frozen=True, slots=True)
class Limits:
    """What ends an answer besides its natural end.

    Attributes:
        max_tokens: generated tokens at most.
        min_tokens: no end of turn and no stop string before that many.
        ignore_eos: go on after the end of turn until ``max_tokens``.
        stop: texts that end the answer.
        stop_ids: tokens that end the answer.
        keep_stop: whether the stop text stays in the output.
    """

    max_tokens: int
    min_tokens: int = 0
    ignore_eos: bool = False
    stop: tuple[str, ...] = ()
    stop_ids: tuple[int, ...] = ()
    keep_stop: bool = False


@dataclass(slots=True)
class Output:
    """What is generated for one choice.

    Attributes:
        ids: every generated token, the end of turn included where it was reached.
        pieces: the text that each of them adds; joined they are the visible output with its mark-up.
        finish_reason: ``stop`` or ``length``.
        stop_reason: the stop text or token that was met, None at the natural end.
    """

    ids: list[int]
    pieces: list[str]
    finish_reason: str
    stop_reason: str | int | None = None


def decide(model: Model, text: str, limits: Limits) -> Output:
    """The tokens of a text, as far as the limits let it come."""
    natural = [*model.encode(text), model.end_of_turn]
    ids, finish_reason = natural, "stop"
    if limits.ignore_eos or len(natural) < limits.min_tokens:
        wanted = limits.max_tokens if limits.ignore_eos else limits.min_tokens - 1
        body = natural if limits.ignore_eos else natural[:-1]
        ids = [*body, *itertools.islice(_filler(model), max(0, wanted - len(body)))]
        ids += [] if limits.ignore_eos else [model.end_of_turn]
    if len(ids) > limits.max_tokens or (limits.ignore_eos and len(ids) == limits.max_tokens):
        ids, finish_reason = ids[: limits.max_tokens], "length"
    pieces = ["" if id == model.end_of_turn else piece for id, piece in zip(ids, model.pieces(ids), strict=True)]
    return _stopped(Output(ids, pieces, finish_reason), limits)


def _filler(model: Model) -> Iterator[int]:
    return itertools.cycle(model.encode(_FILLER))


def _stopped(output: Output, limits: Limits) -> Output:
    """The output up to the first stop token or the first token that completes a stop text."""
    seen = ""
    for index, (id, piece) in enumerate(zip(output.ids, output.pieces, strict=True)):
        seen += piece
        if index + 1 < limits.min_tokens:
            continue
        if id in limits.stop_ids:
            return Output(output.ids[: index + 1], [*output.pieces[:index], ""], "stop", id)
        met = _first_met(seen, limits.stop, len(piece))
        if met is not None:
            end = met[0] + (len(met[1]) if limits.keep_stop else 0)
            return Output(output.ids[: index + 1], _cut(output.pieces[: index + 1], end), "stop", met[1])
    return output


def _first_met(text: str, stops: Sequence[str], new: int) -> tuple[int, str] | None:
    """Where in the text the earliest stop text begins that needs one of its ``new`` last characters."""
    found = ((text.find(stop, max(0, len(text) - new - len(stop) + 1)), stop) for stop in stops)
    return min(((place, stop) for place, stop in found if place >= 0), default=None)


def _cut(pieces: Sequence[str], length: int) -> list[str]:
    """The same number of pieces, together no longer than ``length`` characters."""
    kept, left = [], length
    for piece in pieces:
        kept.append(piece[:left])
        left -= len(kept[-1])
    return kept
