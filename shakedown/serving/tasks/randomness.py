"""Reproducible randomness: the same parts give the same stream, on every machine and in every Python process."""

from __future__ import annotations

import random

from shakedown.serving.tasks.words import ALPHANUMERIC, LETTERS


def stream(*parts: object) -> random.Random:
    """A generator that depends on nothing but ``parts``."""
    return random.Random(":".join(map(str, parts)))  # noqa: S311 - test material, no secret depends on it


def nonce(rng: random.Random, length: int = 12) -> str:
    """Letters and digits that no text in the world contains; 12 of them carry 71 bits."""
    return "".join(rng.choices(ALPHANUMERIC, k=length))


def letters(rng: random.Random, shortest: int, longest: int) -> str:
    """Lower-case letters that make no word."""
    return "".join(rng.choices(LETTERS, k=rng.randint(shortest, longest)))


def syllables(rng: random.Random, fewest: int, most: int) -> str:
    """A word that no dictionary has and everybody can say: ``tomiva``, ``renkol``."""
    return "".join(
        rng.choice("bdfghjklmnprstvwz") + rng.choice("aeiou") + rng.choice(("", "", "l", "n", "r", "s"))
        for _ in range(rng.randint(fewest, most))
    )
