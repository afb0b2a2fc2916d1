"""A fact from an earlier turn of the conversation: is the history rendered, whole and in order?"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence

from shakedown.serving.tasks.arithmetic import Arithmetic
from shakedown.serving.tasks.copying import NonceCopy
from shakedown.serving.tasks.exact_word import ExactWord
from shakedown.serving.tasks.item import Answer, Family, MaxTokens, Message, Question, Tool, last_turn, text_of
from shakedown.serving.tasks.randomness import nonce
from shakedown.serving.tasks.reading import bare_text
from shakedown.serving.tasks.reverse import Reverse
from shakedown.serving.tasks.template import first_match, templates
from shakedown.serving.tasks.words import CITIES, COLORS, ITEMS, JOBS, NAMES, WORDS

_MONTHS = ("January", "February", "March", "April", "June", "July", "August", "October", "November", "December")
FACTS: dict[str, Callable[[random.Random], str]] = {
    "name": lambda rng: rng.choice(NAMES),
    "city": lambda rng: rng.choice(CITIES),
    "favorite color": lambda rng: rng.choice(COLORS),
    "favorite word": lambda rng: rng.choice(WORDS),
    "job": lambda rng: rng.choice(JOBS),
    "code": nonce,
    "lucky number": lambda rng: str(rng.randint(2, 999)),
    "locker number": lambda rng: str(rng.randint(2, 999)),
    "birth month": lambda rng: rng.choice(_MONTHS),
    "nickname": lambda rng: rng.choice(WORDS).capitalize(),
    "order code": lambda rng: nonce(rng, 8),
    "team name": lambda rng: rng.choice(WORDS).capitalize(),
    "neighbor's name": lambda rng: rng.choice(NAMES),
    "first choice": lambda rng: rng.choice(ITEMS),
}
"""What a user may say about themselves, and how a value is drawn."""

STATEMENTS = (
    "My {kind} is {value}.",
    "My {kind} is {value}. Remember it.",
    "Remember that my {kind} is {value}.",
    "Hello, my {kind} is {value}.",
    "Please note that my {kind} is {value}.",
    "Just so you know, my {kind} is {value}.",
    "For later: my {kind} is {value}.",
    "Keep in mind that my {kind} is {value}.",
    "I want you to know that my {kind} is {value}.",
)
CORRECTIONS = (
    "Actually, my {kind} is {value}.",
    "Correction: my {kind} is {value}.",
    "No, wait, my {kind} is {value}.",
    "I was wrong, my {kind} is {value}.",
    "Sorry, my {kind} is {value}. Please use that.",
)
QUESTIONS = templates(
    {"kind": "|".join(FACTS)},
    what="What is my {kind}?",
    what_only="What is my {kind}? Answer with it only.",
    tell="Tell me my {kind}.",
    which="Which {kind} did I tell you?",
    remember="Do you remember my {kind}?",
    said="What did I say my {kind} was?",
    can="Can you tell me my {kind}?",
    again="What was my {kind} again?",
    repeat="Please repeat my {kind}.",
    forgot="I forgot my {kind}. What is it?",
    say="Say my {kind} and nothing else.",
    know="Do you still know my {kind}? Give it to me.",
)
_STATED = re.compile(rf"\b[Mm]y ({'|'.join(FACTS)}) is (\w+)")
_ACKNOWLEDGED = ("OK.", "OK.", "Noted.", "I will remember that.", "Thank you.")
_EXERCISES: tuple[Family, ...] = (Arithmetic(), ExactWord(), NonceCopy(), Reverse())
_CONCLUDED = re.compile(r"\b(?:is|was)(?: now)?:?\s+[\"'“*`]*(\w+)")


class Recall:
    """What the user said one to four exchanges ago; where they said it twice, the last time counts."""

    name = "recall"
    max_tokens = MaxTokens(thinking=1024, plain=256)
    templates = tuple(QUESTIONS)

    def make(self, template: str, rng: random.Random) -> Question:
        """A statement, exercises and other statements as distraction, perhaps a correction, and the question."""
        kind, *others = rng.sample(tuple(FACTS), 5)
        value = FACTS[kind](rng)
        turns = [_statement(STATEMENTS, kind, value, rng)]
        for other in others[: rng.randint(1, 4)]:
            aside = rng.random() < 0.4
            turns.append(_statement(STATEMENTS, other, FACTS[other](rng), rng) if aside else _exercise(rng))
        if rng.random() < 0.3:
            former, value = value, FACTS[kind](rng)
            while value == former:
                value = FACTS[kind](rng)
            turns.insert(rng.randint(1, len(turns)), _statement(CORRECTIONS, kind, value, rng))
        messages = [message for turn in turns for message in turn]
        question = {"role": "user", "content": QUESTIONS[template].render({"kind": kind})}
        return Question(template, (*messages, question), value)

    def solve(self, messages: Sequence[Message], tools: Sequence[Tool]) -> Answer | None:  # noqa: ARG002 - Family
        """The last thing that the user said about it."""
        turn = last_turn(messages)
        found = first_match(QUESTIONS.values(), turn) if turn else None
        if found is None:
            return None
        kind = found[1]["kind"]
        said = [text_of(message) for message in messages[:-1] if message.get("role") == "user"]
        values = [value for text in said for stated, value in _STATED.findall(text) if stated == kind]
        if not values:
            return None
        return Answer(thinking=f"The user's {kind} is {values[-1]}.", content=values[-1])

    def read(self, answer: Answer) -> str:
        """What the content says that it is, or its last word."""
        text = bare_text(answer)
        concluded = _CONCLUDED.findall(text)
        return concluded[-1] if concluded else text.removesuffix(".").split()[-1].strip("*`\"'“”")


def _statement(texts: Sequence[str], kind: str, value: str, rng: random.Random) -> tuple[Message, ...]:
    return (
        {"role": "user", "content": rng.choice(texts).format(kind=kind, value=value)},
        {"role": "assistant", "content": rng.choice(_ACKNOWLEDGED)},
    )


def _exercise(rng: random.Random) -> tuple[Message, ...]:
    family = rng.choice(_EXERCISES)
    question = family.make(rng.choice(family.templates), rng)
    return (*question.messages, {"role": "assistant", "content": str(question.key)})
