"""Codes that are told from words at a glance, and how they are found in an answer."""

from __future__ import annotations

import random
import re

from shakedown.serving.tasks.randomness import nonce

_WORD = re.compile(r"[A-Za-z0-9]+")


def code(rng: random.Random, length: int) -> str:
    """Letters and digits, both of them: no word and no number looks like it."""
    while True:
        drawn = nonce(rng, length)
        if is_code(drawn):
            return drawn


def is_code(word: str) -> bool:
    """Whether a word holds a letter and a digit."""
    return word.isalnum() and not word.isalpha() and not word.isdigit()


def codes_in(text: str, *, shortest: int = 6, longest: int = 12) -> list[str]:
    """The different codes of these lengths in a text, in order of their first mention."""
    words = dict.fromkeys(_WORD.findall(text))
    return [word for word in words if shortest <= len(word) <= longest and is_code(word)]
