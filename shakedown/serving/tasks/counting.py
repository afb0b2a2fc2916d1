"""Counting over a range: a long answer in which one lost or repeated token shows."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

from shakedown.serving.tasks.item import Answer, MaxTokens, Message, Question, Tool, ask, last_turn
from shakedown.serving.tasks.reading import integers
from shakedown.serving.tasks.template import first_match, templates

_TEMPLATES = templates(
    {"a": r"\d{1,3}", "b": r"\d{1,3}"},
    count="Count from {a} to {b}.",
    up="Count up from {a} to {b}.",
    please="Please count from {a} to {b}.",
    can="Can you count from {a} to {b}?",
    only="Count from {a} to {b} and write nothing else.",
    commas="Count from {a} to {b}, separated by commas.",
    listing="List the numbers from {a} to {b}.",
    writing="Write the numbers from {a} to {b}.",
    printing="Print all numbers from {a} to {b}.",
    which="Which whole numbers are there from {a} to {b}, both included?",
    spaces="Count from {a} to {b}, separated by spaces.",
    spaces_write="Write the numbers from {a} to {b} with a space between them.",
    lines="Count from {a} to {b}, one number per line.",
    lines_list="List the numbers from {a} to {b}, each on its own line.",
)
_SEPARATORS = {"spaces": " ", "lines": "\n"}
LARGEST = 300


class Counting:
    """Five to forty numbers in order; one time in ten as many as fit below the largest one."""

    name = "counting"
    max_tokens = MaxTokens(thinking=3072, plain=2048)
    templates = tuple(_TEMPLATES)

    def make(self, template: str, rng: random.Random) -> Question:
        """A range that starts at 1 or anywhere up to 200."""
        start = rng.choice((1, rng.randint(0, 200)))
        longest = LARGEST - start if rng.random() < 0.1 else 39
        stop = start + rng.randint(4, longest)
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
        separator = _SEPARATORS.get(template.name.partition("-")[0], ", ")
        return Answer(thinking=f"From {start} to {stop}.", content=_series(start, stop, separator))

    def read(self, answer: Answer) -> str:
        """All whole numbers of the content, or of what follows an introduction that ends in a colon."""
        introduction, _, numbers = answer.content.rpartition(":")
        said = replace(answer, content=numbers) if introduction else answer
        return ", ".join(map(str, integers(said)))


def _series(start: int, stop: int, separator: str) -> str:
    return separator.join(map(str, range(start, stop + 1)))
