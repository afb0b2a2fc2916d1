"""Log-probabilities of a model that is sure of itself: made from the token ids, the same for the same tokens."""

from __future__ import annotations

import math
import zlib
from collections.abc import Sequence
from typing import Any

from shakedown.simulator.model import Model

_LIKELY = 0.9
_REST = 0.09


def chosen(id: int, position: int) -> float:
    """Of the token that was generated: between 0.90 and 0.99 in probability."""
    return math.log(_LIKELY + _REST * _fraction(id, position))


def alternatives(model: Model, id: int, position: int, count: int) -> list[tuple[int, float]]:
    """The ``count`` likeliest tokens, the generated one first; together below one in probability."""
    ranked = [(id, chosen(id, position))]
    left = 1 - math.exp(ranked[0][1])
    candidate = int(_fraction(position, id) * model.vocabulary_size)
    while len(ranked) < count:
        candidate = (candidate + 1) % model.vocabulary_size
        if candidate != id:
            left /= 2
            ranked.append((candidate, math.log(left)))
    return ranked[:count]


def chat_logprobs(
    model: Model, ids: Sequence[int], start: int, top: int, *, as_ids: bool = False
) -> dict[str, list[dict[str, Any]]]:
    """``choices[].logprobs`` of the chat routes."""
    content = []
    for position, id in enumerate(ids, start):
        entries = [
            _entry(model, alternative, logprob, as_ids=as_ids)
            for alternative, logprob in alternatives(model, id, position, max(1, top))
        ]
        content.append({**entries[0], "top_logprobs": entries[:top]})
    return {"content": content}


def completion_logprobs(model: Model, ids: Sequence[int], start: int, top: int, offset: int) -> dict[str, Any]:
    """``choices[].logprobs`` of the completion route; ``offset`` is where the text of the first token begins."""
    tokens = [model.decode([id]) for id in ids]
    offsets = [offset + sum(map(len, tokens[:index])) for index in range(len(tokens))]
    ranked = [alternatives(model, id, position, max(1, top)) for position, id in enumerate(ids, start)]
    return {
        "text_offset": offsets,
        "token_logprobs": [ranks[0][1] for ranks in ranked],
        "tokens": tokens,
        "top_logprobs": [{model.decode([id]): logprob for id, logprob in ranks} for ranks in ranked],
    }


def _entry(model: Model, id: int, logprob: float, *, as_ids: bool) -> dict[str, Any]:
    token = f"token_id:{id}" if as_ids else model.decode([id])
    return {"token": token, "logprob": logprob, "bytes": list(token.encode())}


def _fraction(a: int, b: int) -> float:
    """Between 0 and 1, by the two numbers alone."""
    return zlib.crc32(f"{a}:{b}".encode()) / 2**32
