"""Pages of plain sentences, with numbers and codes of no concern, in which something else can be hidden."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping, Sequence

from shakedown.serving.tasks.template import Template, first_match
from shakedown.serving.tasks.words import CITIES, COLORS, ITEMS, JOBS, NAMES, WORDS

PAGE = "\N{PILCROW SIGN}"
"""Stands in a phrasing for the page, so that phrasings are matched without it."""

_SHORT, _LONG = (300, 1600), (1600, 5400)
_LONG_SHARE = 0.2
_SLOT = re.compile(r"\{(\w+)\}")
_ARTICLE = re.compile(r"\b([Aa]) (?=[aeiou])")
_WORDS: Mapping[str, Sequence[str]] = {
    "word": WORDS,
    "other": WORDS,
    "third": WORDS,
    "name": NAMES,
    "friend": NAMES,
    "city": CITIES,
    "town": CITIES,
    "color": COLORS,
    "items": ITEMS,
    "job": JOBS,
}
_NUMBERS: Mapping[str, Callable[[random.Random], str]] = {
    "days": lambda rng: str(rng.randint(2, 90)),
    "year": lambda rng: str(rng.randint(1800, 2030)),
    "number": lambda rng: str(rng.randint(1000, 99999)),
    "flight": lambda rng: f"{rng.choice(('KL', 'LH', 'BA', 'SK'))}{rng.randint(100, 999)}",
    "locker": lambda rng: f"{rng.randint(1, 60)}{rng.choice('ABCDEF')}",
    "clock": lambda rng: f"{rng.randint(6, 22)}:{rng.choice(('00', '15', '30', '45'))}",
}
_SENTENCES = (
    "The {word} {other} is near the {third}.",
    "{name} went to {city} with a {word} and a {other}.",
    "Every {word} needs a {other}.",
    "In {city} the {word} was closed for {days} days.",
    "They built a {word} {other} in {year}.",
    "{name} told {friend} about the {word} of the {other}.",
    "Parcel {number} left {city} at {clock}.",
    "Flight {flight} to {city} was late again.",
    "{name} keeps a {color} {word} in locker {locker}.",
    "The invoice number is {number}.",
    "Nobody in {city} has seen the {word} since {year}.",
    "A {job} from {city} sold {days} {items} before noon.",
    "When the {word} broke, {name} asked the {job} for help.",
    "The road from {city} to {town} passes a {color} {word}.",
    "{name} and {friend} met at {clock} beside the {word}.",
    "It takes {days} days to paint a {word} {color}.",
    "Most {items} in {city} are {color}.",
    "There was no {word} left, so {name} took the {other}.",
    "The {job} wrote the number {number} on a {color} {word}.",
)


def haystack(rng: random.Random, characters: int | None = None) -> list[str]:
    """Sentences of about so many characters together; without a wish mostly a few hundred, now and then thousands."""
    if characters is None:
        characters = rng.randint(*(_LONG if rng.random() < _LONG_SHARE else _SHORT))
    sentences: list[str] = []
    while characters > 0:
        filled = _SLOT.sub(lambda slot: _filled(slot[1], rng), rng.choice(_SENTENCES))
        sentences.append(_ARTICLE.sub(r"\1n ", filled))
        characters -= len(sentences[-1]) + 1
    return sentences


def on_page(phrasing: str, page: str) -> str:
    """The phrasing with the page in its place."""
    return phrasing.replace(PAGE, page)


def off_page(candidates: Mapping[str, Template], text: str) -> tuple[Template, dict[str, str], str] | None:
    """The phrasing around a page, its values and the page; None if there is no such phrasing.

    A page is the longest paragraph, and phrasings are matched with `PAGE` in its place: no expression ever runs over
    thousands of characters.
    """
    paragraphs = text.split("\n\n")
    if not 2 <= len(paragraphs) <= 3:
        return None
    page = max(paragraphs, key=len)
    found = first_match(candidates.values(), text.replace(page, PAGE, 1))
    return (*found, page) if found else None


def _filled(slot: str, rng: random.Random) -> str:
    return rng.choice(_WORDS[slot]) if slot in _WORDS else _NUMBERS[slot](rng)
