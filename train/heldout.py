"""What training never sees: one pair of large operands in 13, and every series of items that starts from a seed."""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence

from shakedown.serving.tasks.item import Message, last_turn

ONE_IN = 13
LEAST = 100
"""Smaller numbers are never held out: what a digit and a digit make is a fact to learn, not a computation."""
_NUMBER = re.compile(r"\d+")


def operands(messages: Sequence[Message]) -> tuple[int, int] | None:
    """The two whole numbers of the last question in ascending order, or None if it has not exactly two large ones."""
    found = _NUMBER.findall(last_turn(messages) or "")
    if len(found) != 2:
        return None
    small, large = sorted(map(int, found))
    return (small, large) if small >= LEAST else None


def held_out(pair: tuple[int, int]) -> bool:
    """Whether the pair is kept from training: its CRC-32 is a multiple of 13.

    The pair is taken in ascending order, so 3 + 5, 5 + 3 and 5 - 3 are held out together. The rule looks at the text
    alone and so covers every family that asks about two numbers, sums in a story or with tools beside them included.
    """
    return zlib.crc32(f"{pair[0]},{pair[1]}".encode()) % ONE_IN == 0
