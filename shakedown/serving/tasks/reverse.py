"""Reversing short strings: every character has to be known to come out right."""

from __future__ import annotations

import random
from collections.abc import Sequence

from shakedown.serving.tasks.item import Answer, MaxTokens, Message, Question, Tool, ask, last_turn
from shakedown.serving.tasks.randomness import letters
from shakedown.serving.tasks.reading import concluding_word
from shakedown.serving.tasks.template import first_match, templates
from shakedown.serving.tasks.words import WORDS

_SHORT_WORDS = tuple(word for word in WORDS if len(word) <= 6)
_TEMPLATES = templates(
    {"text": r"[a-z]+"},
    string="Reverse the string {text}.",
    quoted='Reverse the string "{text}".',
    word="Reverse the word {text}.",
    this="Reverse this: {text}",
    backwards="Spell {text} backwards.",
    what="What is {text} spelled backwards?",
    letters="Write the letters of {text} in reverse order.",
    only="Reverse the string '{text}'. Answer with the reversed string only.",
    please="Please reverse the letters of {text}.",
    can="Can you write {text} backwards?",
    read="How does {text} read from right to left?",
    result="Give me the reverse of {text}, nothing else.",
)


class Reverse:
    """A string of four to six letters, back to front."""

    name = "reverse"
    max_tokens = MaxTokens(thinking=1024, plain=256)
    templates = tuple(_TEMPLATES)

    def make(self, template: str, rng: random.Random) -> Question:
        """A short word, or as often letters that make none; never a palindrome, which a copy would answer."""
        text = rng.choice(_SHORT_WORDS)
        while rng.random() < 0.5 or text == text[::-1]:
            text = letters(rng, 4, 6)
        return Question(template, ask(_TEMPLATES[template].render({"text": text})), text[::-1])

    def solve(self, messages: Sequence[Message], tools: Sequence[Tool]) -> Answer | None:  # noqa: ARG002 - Family
        """Spell it, then spell it from the end."""
        turn = last_turn(messages)
        found = first_match(_TEMPLATES.values(), turn) if turn else None
        if found is None:
            return None
        text = found[1]["text"]
        return Answer(thinking=f"{' '.join(text)}\n{' '.join(reversed(text))}", content=text[::-1])

    def read(self, answer: Answer) -> str:
        """The word that the answer comes down to; spelled out or in a sentence it counts as well."""
        return concluding_word(answer)
