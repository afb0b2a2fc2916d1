"""Requests that no exercise covers, and the one honest answer to all of them."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping, Sequence

from shakedown.serving.tasks.item import Answer, MaxTokens, Message, Question, Tool, ask, last_turn
from shakedown.serving.tasks.randomness import nonce
from shakedown.serving.tasks.reading import bare_text
from shakedown.serving.tasks.recall import FACTS, QUESTIONS
from shakedown.serving.tasks.tool_use import ToolUse, requested
from shakedown.serving.tasks.topics import FOREIGN, FRAMES, OPENINGS, TAILS, TOPICS
from shakedown.serving.tasks.words import CITIES, COLORS, ITEMS, JOBS, LETTERS, NAMES, WORDS

_ANSWER = Answer(
    thinking="This is none of the exercises that I know.",
    content="I am a small test model and I cannot answer that.",
)
_SLOT = re.compile(r"\{(\w+)\}")
_CHOICES: Mapping[str, Sequence[str]] = {
    "word": WORDS,
    "other": WORDS,
    "name": NAMES,
    "city": CITIES,
    "town": CITIES,
    "color": COLORS,
    "items": ITEMS,
    "job": JOBS,
}


def _topic(rng: random.Random) -> str:
    """Something to ask about, out of many thousands."""
    noun = rng.choice(TOPICS) if rng.random() < 0.5 else rng.choice(WORDS)
    shapes = (
        noun,
        noun,
        f"the history of {noun}",
        f"{noun} in {rng.choice(CITIES)}",
        f"{rng.choice(COLORS)} {rng.choice(WORDS)}",
        f"{noun} and {rng.choice(TOPICS)}",
        f"the {rng.choice(WORDS)} {rng.choice(WORDS)}",
        f"{rng.choice(JOBS)} work and {noun}",
        f"{noun} for {rng.choice(ITEMS)}",
    )
    return rng.choice(shapes)


def _composed(template: str, rng: random.Random) -> str:
    text = _SLOT.sub(lambda slot: _filled(slot[1], rng), rng.choice(FRAMES[template]))
    opening = rng.choice(OPENINGS) if rng.random() < 0.3 else ""
    tail = rng.choice(TAILS) if rng.random() < 0.2 else ""
    if opening.endswith((", ", "lease ")):
        text = text[0].lower() + text[1:]
    text = opening + text + tail
    return text.lower() if rng.random() < 0.1 else text


def _filled(slot: str, rng: random.Random) -> str:
    if slot == "topic":
        return _topic(rng)
    if slot == "number":
        return str(rng.choice((rng.randint(2, 99), rng.randint(100, 9999))))
    return rng.choice(_CHOICES[slot])


def _foreign(rng: random.Random) -> str:
    return _SLOT.sub(lambda slot: _filled(slot[1], rng), rng.choice(FOREIGN))


def _words(rng: random.Random) -> str:
    """Words without a sentence."""
    pools = (WORDS, WORDS, TOPICS, NAMES, CITIES, COLORS)
    text = " ".join(rng.choice(rng.choice(pools)) for _ in range(rng.randint(2, 9)))
    text = text[0].upper() + text[1:] if rng.random() < 0.5 else text
    return text + rng.choice(("", ".", "?", "!"))


def _letters(rng: random.Random) -> str:
    """Keys struck at random."""
    if rng.random() < 0.3:
        return nonce(rng, rng.randint(3, 20))
    return " ".join("".join(rng.choices(LETTERS, k=rng.randint(4, 9))) for _ in range(rng.randint(1, 5)))


def _service(rng: random.Random) -> str:
    """A request for a tool; none is offered."""
    return requested(rng.choice(ToolUse.templates), rng).text


def _untold(rng: random.Random) -> str:
    """A question for something that the user never said."""
    return QUESTIONS[rng.choice(tuple(QUESTIONS))].render({"kind": rng.choice(tuple(FACTS))})


_MADE: Mapping[str, Callable[[random.Random], str]] = {
    "foreign": _foreign,
    "words": _words,
    "letters": _letters,
    "service": _service,
    "untold": _untold,
}


class Unknown:
    """General knowledge, opinions, essays, other languages, nonsense: whatever the other families do not cover.

    Alone among the families it takes every prompt, so it must be asked last.
    """

    name = "unknown"
    max_tokens = MaxTokens(thinking=512, plain=128)
    templates = (*FRAMES, *_MADE)

    def make(self, template: str, rng: random.Random) -> Question:
        """A request put together from frames and topics, or no request at all."""
        text = _MADE[template](rng) if template in _MADE else _composed(template, rng)
        return Question(template, ask(text), _ANSWER.content)

    def solve(self, messages: Sequence[Message], tools: Sequence[Tool]) -> Answer | None:  # noqa: ARG002 - Family
        """The same for every turn of the user."""
        return _ANSWER if last_turn(messages) is not None else None

    def read(self, answer: Answer) -> str:
        """The content: this answer is fixed."""
        return bare_text(answer)
