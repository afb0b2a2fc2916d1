"""Documents packed into rows, and rows into batches whose array shapes never change (but for one, see `Batch`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

IGNORED = -100
Document = tuple[list[int], int]
"""Token ids, and how many of them are the prompt."""

_FILLER = 256  # the unused end of a row is cut into documents of this length: attention over it costs little
_STARTS = 256  # the array of starts grows in steps of this many documents


@dataclass(frozen=True, slots=True)
class Row:
    """Some documents one after the other, filled up to a fixed length."""

    ids: NDArray[np.uint16]
    positions: NDArray[np.uint16]
    learned: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Batch:
    """What one step takes.

    Attributes:
        ids: token ids, shape (tokens,).
        positions: of each token in its document.
        starts: of the documents, and the number of tokens at the end, more than once: the array's length is a multiple
            of 256 and one, so that it varies little.
        wanted: indices of tokens that precede a learned one; shape (tokens / 3,), filled up with zeros.
        targets: the learned tokens, `IGNORED` where ``wanted`` is filled up.
    """

    ids: NDArray[np.int64]
    positions: NDArray[np.int64]
    starts: NDArray[np.int32]
    wanted: NDArray[np.int64]
    targets: NDArray[np.int64]

    @property
    def arrays(self) -> tuple[NDArray[np.int64] | NDArray[np.int32], ...]:
        """In the order of the attributes."""
        return self.ids, self.positions, self.starts, self.wanted, self.targets


def row(documents: Sequence[Document], length: int) -> Row:
    """Pack documents that fit into ``length`` tokens together."""
    ids = np.zeros(length, np.uint16)
    positions = (np.arange(length) % _FILLER).astype(np.uint16)
    learned = np.zeros(length, np.bool_)
    first = 0
    for tokens, prompt in documents:
        last = first + len(tokens)
        ids[first:last] = tokens
        positions[first:last] = np.arange(len(tokens))
        learned[first + prompt : last] = True
        first = last
    positions[first:] = np.arange(length - first) % _FILLER
    return Row(ids, positions, learned)


def batch(rows: Sequence[Row]) -> Batch:
    """Join rows."""
    ids = np.concatenate([r.ids for r in rows]).astype(np.int64)
    positions = np.concatenate([r.positions for r in rows]).astype(np.int64)
    most = len(ids) // 3  # about an eighth of all tokens are learned, so nothing is lost
    learned = np.flatnonzero(np.concatenate([r.learned for r in rows]))[:most]
    found = np.flatnonzero(positions == 0)
    starts = np.full((len(found) // _STARTS + 1) * _STARTS + 1, len(ids), np.int32)
    starts[: len(found)] = found
    wanted = np.zeros(most, np.int64)
    targets = np.full(most, IGNORED, np.int64)
    wanted[: len(learned)] = learned - 1
    targets[: len(learned)] = ids[learned]
    return Batch(ids, positions, starts, wanted, targets)
