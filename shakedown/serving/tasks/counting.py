"""Counting over a range: a long answer in which one lost or repeated token shows."""

from __future__ import annotations

import random
from collections.abc import Sequence

from shakedown.serving.tasks.item import Answer, MaxTokens, Message, Question, Tool, ask, last_turn
from shakedown.serving.tasks.reading import integers
from shakedown.serving.tasks.template import first_match, templates

_TEMPLATES = templates(
    {"a": r"\d{1,3}", "b": r"\d{1,3}"},
    count="Count from {a} to {b}.",
    up="Count up from {a} to {b}.",
    commas="Count from {a} to {b}, separated by commas.",
    spaces="Count from {a} to {b}, separated by spaces.",
    lines="Count from {a} to {b}, one number per line.",
    listing="List the numbers from {a} to {b}.",
    writing="Write the numbers from {a} to {b}.",
    printing="Print all numbers from {a} to {b}.",
)
_SEPARATORS = {"spaces": " ", "lines": "\n"}


class Counting:
    """Five to forty numbers in order."""

    name = "counting"
    max_tokens = MaxTokens(thinking=1536, plain=512)
    templates = tuple(_TEMPLATES)

    def make(self, template: str, rng: random.Random) -> Question:
        """A range that starts at 1 or anywhere up to 200."""
        start = rng.choice((1, rng.randint(0, 200)))
        stop = start + rng.randint(4, 39)
        text = _TEMPLATES[template].render({"a": start, "b": stop})
        return Question(template, ask(text), _series(start, stop, ", "))

    def solve(self, messages: Sequence[Message], tools: Sequence[Tool]) -> Answer | None:  # noqa: ARG002 - Family
        """The numbers, with the separator that the phrasing asks for."""
        turn = last_turn(messages)
        found = first_match(_TEMPLATES.values(), turn) if turn else None
        if found is None:
            return None
        template, values = found
        start, stop = int(values["a"]), int(values["b"])
        separator = _SEPARATORS.get(template.name, ", ")
        return Answer(thinking=f"I start at {start} and stop at {stop}.", content=_series(start, stop, separator))

    def read(self, answer: Answer) -> str:
        """All whole numbers of the content, whatever stands between them."""
        return ", ".join(map(str, integers(answer)))


def _series(start: int, stop: int, separator: str) -> str:
    return separator.join(map(str, range(start, stop + 1)))
