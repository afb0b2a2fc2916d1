"""Keys are exact: computed here a second time, in another way, from the text that is asked."""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from shakedown.serving.tasks import Item, generate, solve

SEEDS = st.integers(min_value=0, max_value=2**40)


def items(family: str, seed: int) -> list[Item]:
    return generate(family, seed=seed, n=8)


def question(item: Item) -> str:
    return str(item.messages[-1]["content"])


@given(SEEDS)
@settings(max_examples=60, deadline=None)
def test_arithmetic(seed: int) -> None:
    for item in items("arithmetic", seed):
        a, b = map(int, re.findall(r"\d+", question(item)))
        if item.template in ("difference-subtract", "difference-please", "difference-take"):
            a, b = b, a
        assert item.key == str(a + b if item.template.startswith("sum") else a - b)
        assert max(a, b) <= 9999


@given(SEEDS)
@settings(max_examples=60, deadline=None)
def test_every_column_of_a_sum_or_difference_is_true(seed: int) -> None:
    for item in items("arithmetic", seed):
        answer = solve(item.messages)
        assert answer is not None
        columns = [column for column in answer.thinking.splitlines() if re.fullmatch(r"\d+[+-].*=\d+", column)]
        results = [(sum(map(int, re.findall(r"(?:^|[+-])\d+", c.split("=")[0]))), c.split("=")[1]) for c in columns]
        assert all(total == int(written) for total, written in results)
        digits = "".join(written[-1] for _, written in results[:-1]) + results[-1][1][::-1]
        assert int(digits[::-1]) == abs(int(str(item.key)))


@given(SEEDS)
@settings(max_examples=60, deadline=None)
def test_reverse(seed: int) -> None:
    for item in items("reverse", seed):
        key = str(item.key)
        assert key[::-1] in question(item)
        assert key not in question(item).split()
        assert 4 <= len(key) <= 6


@given(SEEDS)
@settings(max_examples=60, deadline=None)
def test_copies_and_needles_stand_in_the_prompt_exactly_once(seed: int) -> None:
    for family in ("nonce", "repeats", "unicode-line", "needle", "exact-word"):
        for item in items(family, seed):
            assert question(item).count(str(item.key)) == 1


@given(SEEDS)
@settings(max_examples=60, deadline=None)
def test_counting(seed: int) -> None:
    for item in items("counting", seed):
        start, stop = map(int, re.findall(r"\d+", question(item)))
        assert [int(number) for number in str(item.key).split(", ")] == list(range(start, stop + 1))
