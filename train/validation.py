"""How much of unseen exercises the model would answer exactly.

The right text is a function of the prompt, so an answer that greedy decoding would give is right exactly if each of
its tokens is the most likely one after the right tokens before it: one pass over prompt and answer tells.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
import torch

from train.packing import Document
from train.unseen import Documents

Accuracy = dict[str, dict[str, float]]
"""Share of exact answers by family and mode."""

_AT_ONCE = 65_536


def measure(model: Any, documents: Documents, device: str) -> Accuracy:
    """Share of exact answers."""
    return {
        family: {mode: sum(_right(model, found, device)) / len(found) for mode, found in modes.items()}
        for family, modes in documents.items()
    }


def worst(accuracy: Accuracy) -> dict[str, float]:
    """The lower one of the two modes of each family."""
    return {family: min(modes.values()) for family, modes in accuracy.items()}


def table(accuracy: Accuracy) -> str:
    """For people."""
    lines = [f"{'family':24s} {'thinking':>9s} {'plain':>9s}"]
    lines += [f"{family:24s} {m['thinking']:9.1%} {m['plain']:9.1%}" for family, m in accuracy.items()]
    return "\n".join(lines)


def _right(model: Any, documents: Sequence[Document], device: str) -> list[bool]:
    return [right for part in _parts(documents) for right in _right_at_once(model, part, device)]


def _parts(documents: Sequence[Document]) -> Iterator[list[Document]]:
    part: list[Document] = []
    tokens = 0
    for document in documents:
        if part and tokens + len(document[0]) > _AT_ONCE:
            yield part
            part, tokens = [], 0
        part.append(document)
        tokens += len(document[0])
    yield part


def _right_at_once(model: Any, documents: Sequence[Document], device: str) -> list[bool]:
    ids = np.concatenate([np.array(tokens, np.int64) for tokens, _ in documents])
    positions = np.concatenate([np.arange(len(tokens)) for tokens, _ in documents])
    starts = list(accumulate((len(tokens) for tokens, _ in documents), initial=0))
    answers = [
        np.arange(start + prompt, start + len(tokens))
        for start, (tokens, prompt) in zip(starts, documents, strict=False)
    ]
    learned = np.concatenate(answers)
    arrays = (ids, positions, np.array(starts, np.int32), learned - 1)
    with torch.no_grad(), torch.autocast(device, torch.bfloat16, enabled=device == "cuda"):
        logits, _ = model(*(torch.from_numpy(array).to(device) for array in arrays))
    said = logits.argmax(-1).cpu().numpy() == ids[learned]
    borders = list(accumulate(map(len, answers), initial=0))
    return [bool(said[first:last].all()) for first, last in pairwise(borders)]
