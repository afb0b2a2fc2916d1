"""Phrasings that are in no pool, to see how far the model gets beyond what it was trained on."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from shakedown.serving.tasks import Item
from shakedown.serving.tasks.item import ask
from shakedown.serving.tasks.randomness import nonce, stream
from shakedown.serving.tasks.words import LETTERS, WORDS
from train.families import ALL

Values = Mapping[str, Any]


@dataclass(frozen=True)
class _Kind:
    """Values for the phrasings, the right answer to any of them, and the phrasings."""

    draw: Callable[[random.Random], Values]
    key: Callable[[Values], str]
    phrasings: Sequence[str]


def _operands(rng: random.Random) -> Values:
    return {"a": rng.randint(10, 999), "b": rng.randint(10, 999)}


def _word(rng: random.Random) -> Values:
    return {"word": rng.choice(WORDS)}


def _letters(rng: random.Random) -> Values:
    return {"word": "".join(rng.choices(LETTERS, k=5))}


def _range(rng: random.Random) -> Values:
    start = rng.randint(1, 90)
    return {"a": start, "b": start + rng.randint(4, 15)}


def _secret(rng: random.Random) -> Values:
    return {"code": nonce(rng)}


_KINDS: Mapping[str, _Kind] = {
    "arithmetic": _Kind(
        _operands,
        lambda values: str(values["a"] + values["b"]),
        (
            "What do you get when {a} meets {b} in a sum?",
            "Put {a} and {b} together: which number comes out?",
            "I have {a} and somebody hands me {b}. My total?",
            "Sum, please: {a}, {b}.",
            "How much is {a} if it grows by {b}?",
            "{a} increased by {b} makes what?",
        ),
    ),
    "exact-word": _Kind(
        _word,
        lambda values: str(values["word"]),
        (
            "Let your reply consist of the word {word}, no more.",
            "One word from you, please, and that word is {word}.",
            "I want to read {word} and only {word}.",
            "Type {word}. Stop after that.",
            "Give me back the single term {word}.",
            "The only thing I want to see is: {word}",
        ),
    ),
    "nonce": _Kind(
        _secret,
        lambda values: str(values["code"]),
        (
            "Hand this identifier back to me untouched: {code}",
            "Say it after me: {code}",
            "What I type is {code}, and what you type is the same.",
            "Mirror my input, which is {code}",
            "Return the following key as it is: {code}",
            "Please write {code} once more.",
        ),
    ),
    "reverse": _Kind(
        _letters,
        lambda values: str(values["word"])[::-1],
        (
            "Turn the letters of {word} around.",
            "Read {word} from right to left.",
            "Which string is {word} when its order is flipped?",
            "Flip {word} end to end.",
            "Mirror the text {word}.",
            "Starting with its last letter, write {word}.",
        ),
    ),
    "counting": _Kind(
        _range,
        lambda values: ", ".join(map(str, range(values["a"], values["b"] + 1))),
        (
            "Begin at {a} and go up one by one until {b}.",
            "Say every whole number between {a} and {b}, both included.",
            "Enumerate {a} to {b}.",
            "I need the sequence that runs from {a} up to {b}.",
            "Which integers do I meet on the way from {a} to {b}? Include both.",
            "Recite the numbers {a} through {b}.",
        ),
    ),
    "needle": _Kind(
        _secret,
        lambda values: str(values["code"]),
        (
            "The door by the garden opens with {code}. The bridge is old. With what does the door open?",
            "Anna left a note: the safe takes {code}. It rained all day. What does the safe take?",
            "Our guest network has the passphrase {code}. Coffee is in the kitchen. Which passphrase has the network?",
            "The parcel bears the label {code} and the box is green. Which label does the parcel bear?",
            "Ticket {code} was closed on Monday by Felix. Which ticket was closed?",
            "Locker 4 belongs to badge {code}. Locker 5 is free. Whose badge opens locker 4?",
        ),
    ),
}
FAMILIES = tuple(_KINDS)
"""Families that have phrasings here."""


def items(family: str, *, seed: int, n: int) -> list[Item]:
    """Items whose phrasings take turns."""
    return [_item(family, seed, index) for index in range(n)]


def _item(family: str, seed: int, index: int) -> Item:
    kind = _KINDS[family]
    values = kind.draw(stream("wild", family, seed, index))
    number = index % len(kind.phrasings)
    return Item(
        family=family,
        template=f"wild-{number}",
        seed=seed,
        index=index,
        messages=ask(kind.phrasings[number].format(**values)),
        key=kind.key(values),
        max_tokens=ALL[family].max_tokens,
    )
