"""Addition and subtraction of whole numbers up to three digits: the answer must be computed, not recalled."""

from __future__ import annotations

import random
from collections.abc import Sequence

from shakedown.serving.tasks.item import Answer, MaxTokens, Message, Question, Tool, ask, last_turn
from shakedown.serving.tasks.reading import last_integer
from shakedown.serving.tasks.template import first_match, templates
from shakedown.serving.tasks.words import ITEMS, NAMES

_SLOTS = {"a": r"\d{1,3}", "b": r"\d{1,3}", "name": r"[A-Z][a-z]+", "items": r"[a-z]+"}
_ADDITION = templates(
    _SLOTS,
    sum_what_is="What is {a} + {b}?",
    sum_compute="Compute {a} + {b}.",
    sum_calculate="Calculate {a} + {b}.",
    sum_add="Add {a} and {b}.",
    sum_plus="What is {a} plus {b}?",
    sum_total="What is the sum of {a} and {b}?",
    sum_equals="{a} + {b} = ?",
    sum_number_only="What is {a} + {b}? Reply with only the number.",
    sum_story="{name} has {a} {items} and gets {b} more. How many {items} does {name} have now?",
    sum_boxes="There are {a} {items} in one box and {b} {items} in another. How many {items} are there in total?",
)
_SUBTRACTION = templates(
    _SLOTS,
    difference_what_is="What is {a} - {b}?",
    difference_compute="Compute {a} - {b}.",
    difference_calculate="Calculate {a} - {b}.",
    difference_minus="What is {a} minus {b}?",
    difference_subtract="Subtract {b} from {a}.",
    difference_equals="{a} - {b} = ?",
    difference_number_only="What is {a} - {b}? Reply with only the number.",
    difference_take="Take {b} away from {a}.",
    difference_story="{name} has {a} {items} and gives away {b}. How many {items} are left?",
)


class Arithmetic:
    """Sums and differences."""

    name = "arithmetic"
    max_tokens = MaxTokens(thinking=1024, plain=512)
    templates = (*_ADDITION, *_SUBTRACTION)

    def make(self, template: str, rng: random.Random) -> Question:
        """Operands of one to three digits, three being the most frequent; stories never go below zero."""
        a, b = (rng.randint(*rng.choice(((100, 999), (100, 999), (10, 99), (1, 9)))) for _ in "ab")
        if template == "difference-story":
            a, b = max(a, b), min(a, b)
        values = {"a": a, "b": b, "name": rng.choice(NAMES), "items": rng.choice(ITEMS)}
        text = (_ADDITION | _SUBTRACTION)[template].render(values)
        return Question(template, ask(text), str(a + b if template in _ADDITION else a - b))

    def solve(self, messages: Sequence[Message], tools: Sequence[Tool]) -> Answer | None:  # noqa: ARG002 - Family
        """Column by column, as on paper."""
        text = last_turn(messages)
        found = first_match((_ADDITION | _SUBTRACTION).values(), text) if text else None
        if found is None:
            return None
        template, values = found
        a, b = int(values["a"]), int(values["b"])
        if template.name in _ADDITION:
            return Answer(thinking=_addition(a, b), content=str(a + b))
        return Answer(thinking=_subtraction(a, b), content=str(a - b))

    def read(self, answer: Answer) -> str:
        """The last whole number."""
        return last_integer(answer)


def _addition(a: int, b: int) -> str:
    lines, carry, digits = [f"{a} + {b}"], 0, list[int]()
    for column in range(max(len(str(a)), len(str(b)))):
        x, y = a // 10**column % 10, b // 10**column % 10
        total = x + y + carry
        lines.append(f"{x}+{y}+{carry}={total}, digit {total % 10} carry {total // 10}")
        digits.append(total % 10)
        carry = total // 10
    if carry:
        lines.append(f"digit {carry}")
        digits.append(carry)
    return "\n".join([*lines, "result " + " ".join(map(str, reversed(digits)))])


def _subtraction(a: int, b: int) -> str:
    larger, smaller = max(a, b), min(a, b)
    width = len(str(larger))
    lines = [f"{a} - {b}", _comparison(f"{a:0{width}d}", f"{b:0{width}d}")]
    if a < b:
        lines.append(f"below zero: {larger} - {smaller}")
    borrow, digits = 0, list[int]()
    for column in range(width):
        x, y = larger // 10**column % 10, smaller // 10**column % 10
        difference = x - y - borrow
        digit, next_borrow = difference % 10, int(difference < 0)
        lines.append(f"{x}-{y}-{borrow}: digit {digit} borrow {next_borrow}")
        digits.append(digit)
        borrow = next_borrow
    sign = "- " if a < b else ""
    return "\n".join([*lines, "result " + sign + " ".join(map(str, reversed(digits)))])


def _comparison(a: str, b: str) -> str:
    """Digit against digit from the left until one differs: which number is the larger one."""
    steps = []
    for x, y in zip(a, b, strict=True):
        steps.append(f"{x}{'=' if x == y else '<' if x < y else '>'}{y}")
        if x != y:
            break
    return " ".join(steps)
