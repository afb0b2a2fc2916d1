"""Reproducible randomness: the same parts give the same stream, on every machine and in every Python process."""

from __future__ import annotations

import random

from shakedown.serving.tasks.words import ALPHANUMERIC


def stream(*parts: object) -> random.Random:
    """A generator that depends on nothing but ``parts``."""
    return random.Random(":".join(map(str, parts)))  # noqa: S311 - test material, no secret depends on it


def nonce(rng: random.Random, length: int = 12) -> str:
    """Letters and digits that no text in the world contains; 12 of them carry 71 bits."""
    return "".join(rng.choices(ALPHANUMERIC, k=length))
