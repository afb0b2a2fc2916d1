"""Addition and subtraction of whole numbers up to four digits: the answer must be computed, not recalled."""

from __future__ import annotations

import random
from collections.abc import Sequence

from shakedown.serving.tasks.item import Answer, MaxTokens, Message, Question, Tool, ask, last_turn
from shakedown.serving.tasks.reading import last_integer
from shakedown.serving.tasks.template import first_match, templates
from shakedown.serving.tasks.words import ITEMS, NAMES

_SLOTS = {"a": r"\d{1,4}", "b": r"\d{1,4}", "name": r"[A-Z][a-z]+", "items": r"[a-z]+"}
_ADDITION = templates(
    _SLOTS,
    sum_what_is="What is {a} + {b}?",
    sum_compute="Compute {a} + {b}.",
    sum_calculate="Calculate {a} + {b}.",
    sum_add="Add {a} and {b}.",
    sum_please="Please add {a} to {b}.",
    sum_plus="What is {a} plus {b}?",
    sum_how_much="How much is {a} + {b}?",
    sum_total="What is the sum of {a} and {b}?",
    sum_equals="{a} + {b} = ?",
    sum_number_only="What is {a} + {b}? Reply with only the number.",
    sum_result="Give me the result of {a} + {b}, nothing else.",
    sum_story="{name} has {a} {items} and gets {b} more. How many {items} does {name} have now?",
    sum_boxes="There are {a} {items} in one box and {b} {items} in another. How many {items} are there in total?",
    sum_shop="A shop sold {a} {items} on Monday and {b} on Tuesday. How many {items} did it sell altogether?",
)
_SUBTRACTION = templates(
    _SLOTS,
    difference_what_is="What is {a} - {b}?",
    difference_compute="Compute {a} - {b}.",
    difference_calculate="Calculate {a} - {b}.",
    difference_minus="What is {a} minus {b}?",
    difference_subtract="Subtract {b} from {a}.",
    difference_please="Please subtract {b} from {a}.",
    difference_how_much="How much is {a} - {b}?",
    difference_equals="{a} - {b} = ?",
    difference_number_only="What is {a} - {b}? Reply with only the number.",
    difference_result="Give me the result of {a} - {b}, nothing else.",
    difference_take="Take {b} away from {a}.",
    difference_story="{name} has {a} {items} and gives away {b}. How many {items} are left?",
    difference_story_box="A box holds {a} {items}. {name} takes out {b}. How many {items} stay in the box?",
)
_OPERANDS = ((1000, 9999),) * 3 + ((100, 999),) * 3 + ((10, 99),) * 2 + ((1, 9),)


class Arithmetic:
    """Sums and differences."""

    name = "arithmetic"
    max_tokens = MaxTokens(thinking=1024, plain=512)
    templates = (*_ADDITION, *_SUBTRACTION)

    def make(self, template: str, rng: random.Random) -> Question:
        """Operands of one to four digits, three and four being the most frequent; stories never go below zero."""
        a, b = (rng.randint(*rng.choice(_OPERANDS)) for _ in "ab")
        if template.startswith("difference-story"):
            a, b = max(a, b), min(a, b)
        values = {"a": a, "b": b, "name": rng.choice(NAMES), "items": rng.choice(ITEMS)}
        if template in _ADDITION:
            return Question(template, ask(_ADDITION[template].render(values)), str(a + b))
        return Question(template, ask(_SUBTRACTION[template].render(values)), str(a - b))

    def solve(self, messages: Sequence[Message], tools: Sequence[Tool]) -> Answer | None:  # noqa: ARG002 - Family
        """Column by column, as on paper."""
        text = last_turn(messages)
        if not text:
            return None
        if found := first_match(_ADDITION.values(), text):
            a, b = int(found[1]["a"]), int(found[1]["b"])
            return Answer(thinking=_addition(a, b), content=str(a + b))
        if found := first_match(_SUBTRACTION.values(), text):
            a, b = int(found[1]["a"]), int(found[1]["b"])
            return Answer(thinking=_subtraction(a, b), content=str(a - b))
        return None

    def read(self, answer: Answer) -> str:
        """The last whole number."""
        return last_integer(answer)


def _addition(a: int, b: int) -> str:
    """One sum for each column from the right, the carry as a third summand: ``7+6=13``, ``1+8+1=10``."""
    lines, carry = list[str](), 0
    for x, y in _columns(a, b):
        total = x + y + carry
        lines.append(f"{x}+{y}{'+1' if carry else ''}={total}")
        carry = total // 10
    return "\n".join(lines)


def _subtraction(a: int, b: int) -> str:
    """Which number is larger, then one difference for each column of larger - smaller: ``13-7=6``, ``5-1-1=3``."""
    width = len(str(max(a, b)))
    lines, borrow = [_comparison(f"{a:0{width}d}", f"{b:0{width}d}")], 0
    for x, y in _columns(max(a, b), min(a, b)):
        needed = int(x < y + borrow)
        lines.append(f"{x + 10 * needed}-{y}{'-1' if borrow else ''}={x + 10 * needed - y - borrow}")
        borrow = needed
    return "\n".join(lines)


def _columns(a: int, b: int) -> list[tuple[int, int]]:
    """Digits above each other, from the right; the shorter number is filled up with zeros."""
    width = max(len(str(a)), len(str(b)))
    return [(int(x), int(y)) for x, y in zip(f"{a:0{width}d}"[::-1], f"{b:0{width}d}"[::-1], strict=True)]


def _comparison(a: str, b: str) -> str:
    """Digit against digit from the left until one differs: which number is the larger one."""
    steps = []
    for x, y in zip(a, b, strict=True):
        steps.append(f"{x}{'=' if x == y else '<' if x < y else '>'}{y}")
        if x != y:
            break
    return " ".join(steps)
