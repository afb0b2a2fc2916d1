"""A fact from an earlier turn of the conversation: is the history rendered at all?"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence

from shakedown.serving.tasks.arithmetic import Arithmetic
from shakedown.serving.tasks.item import Answer, MaxTokens, Message, Question, Tool, last_turn, text_of
from shakedown.serving.tasks.randomness import nonce
from shakedown.serving.tasks.reading import bare_text
from shakedown.serving.tasks.template import first_match, templates
from shakedown.serving.tasks.words import CITIES, COLORS, JOBS, NAMES, WORDS

_FACTS: dict[str, Callable[[random.Random], str]] = {
    "name": lambda rng: rng.choice(NAMES),
    "city": lambda rng: rng.choice(CITIES),
    "favorite color": lambda rng: rng.choice(COLORS),
    "favorite word": lambda rng: rng.choice(WORDS),
    "job": lambda rng: rng.choice(JOBS),
    "code": nonce,
}
_DISTRACTION = Arithmetic()
_STATEMENT = re.compile(r"(?:My|Remember that my|Hello, my) (?P<kind>[a-z ]+?) is (?P<value>\w+)\.(?: Remember it\.)?")
_STATEMENTS = ("My {kind} is {value}.", "My {kind} is {value}. Remember it.", "Remember that my {kind} is {value}.")
_TEMPLATES = templates(
    {"kind": "|".join(_FACTS)},
    what="What is my {kind}?",
    what_only="What is my {kind}? Answer with it only.",
    tell="Tell me my {kind}.",
    which="Which {kind} did I tell you?",
)


class Recall:
    """What the user said two turns ago, with an exercise in between."""

    name = "recall"
    max_tokens = MaxTokens(thinking=1024, plain=256)
    templates = tuple(_TEMPLATES)

    def make(self, template: str, rng: random.Random) -> Question:
        """A statement, an exercise as distraction, and the question."""
        kind = rng.choice(sorted(_FACTS))
        value = _FACTS[kind](rng)
        exercise = _DISTRACTION.make(rng.choice(_DISTRACTION.templates), rng)
        messages: tuple[Message, ...] = (
            {"role": "user", "content": rng.choice(_STATEMENTS).format(kind=kind, value=value)},
            {"role": "assistant", "content": "OK."},
            *exercise.messages,
            {"role": "assistant", "content": str(exercise.key)},
            {"role": "user", "content": _TEMPLATES[template].render({"kind": kind})},
        )
        return Question(template, messages, value)

    def solve(self, messages: Sequence[Message], tools: Sequence[Tool]) -> Answer | None:  # noqa: ARG002 - Family
        """The last thing that the user said about it; a statement alone is acknowledged."""
        turn = last_turn(messages)
        if turn is None:
            return None
        if _STATEMENT.fullmatch(turn):
            return Answer(thinking="The user tells me something to remember.", content="OK.")
        found = first_match(_TEMPLATES.values(), turn)
        if found is None:
            return None
        kind = found[1]["kind"]
        statements = (_STATEMENT.fullmatch(text_of(message)) for message in messages if message.get("role") == "user")
        values = [statement["value"] for statement in statements if statement and statement["kind"] == kind]
        if not values:
            return None
        return Answer(thinking=f"The user said that the {kind} is {values[-1]}.", content=values[-1])

    def read(self, answer: Answer) -> str:
        """The content, or its last word if the model answers in a sentence."""
        return bare_text(answer).removesuffix(".").split()[-1].strip("*`\"'")
