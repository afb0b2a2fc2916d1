"""Keys that stand somewhere in a long prompt."""

from __future__ import annotations

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from shakedown.serving.tasks import Answer, Item, generate, grade
from shakedown.serving.tasks.haystack import PAGE, haystack, off_page
from shakedown.serving.tasks.template import Template

SEEDS = st.integers(min_value=0, max_value=2**40)


def items(family: str, seed: int) -> list[Item]:
    return generate(family, seed=seed, n=8)


def question(item: Item) -> str:
    return str(item.messages[-1]["content"])


@given(SEEDS)
@settings(max_examples=40, deadline=None)
def test_a_needle_lies_where_its_template_says(seed: int) -> None:
    for item in items("needle", seed):
        page = max(question(item).split("\n\n"), key=len)
        assert page.count(str(item.key)) == 1
        depth = page.index(str(item.key)) / len(page)
        low, high = {"start": (0, 0.6), "middle": (0.2, 0.8), "end": (0.4, 1)}[item.template.rpartition("-")[2]]
        assert low <= depth <= high


@given(SEEDS)
@settings(max_examples=40, deadline=None)
def test_every_code_that_is_asked_for_stands_in_the_page_once(seed: int) -> None:
    for item in items("multi-needle", seed):
        codes = str(item.key).split(", ")
        assert len(codes) == 1 if item.template.startswith("one-") else 2 <= len(codes) <= 3
        assert all(question(item).count(code) == 1 for code in codes)


def test_codes_are_read_out_of_sentences_in_their_order() -> None:
    item = next(item for item in generate("multi-needle", seed=1, n=20) if ", " in str(item.key))
    codes = str(item.key).split(", ")
    said = "Here they are:\n" + "\n".join(f"- the old gate: **{code}**" for code in codes)
    assert grade(item, Answer(content=said)).right
    assert not grade(item, Answer(content=", ".join(reversed(codes)))).right


def test_most_pages_are_short_and_some_long() -> None:
    lengths = [len(question(item)) for item in generate("needle", seed=1, n=300)]
    assert min(lengths) >= 350
    assert max(lengths) <= 5800
    assert 0.1 < sum(length > 2000 for length in lengths) / len(lengths) < 0.3


def test_a_page_can_be_ordered_by_its_length() -> None:
    for characters in (100, 1000, 20000):
        assert characters <= len(" ".join(haystack(random.Random(1), characters))) + 1 <= characters + 100


def test_a_phrasing_is_found_around_any_page() -> None:
    template = Template("t", PAGE + "\n\nWhat is the {kind}?", {"kind": "[a-z]+"})
    page = "A sentence. " * 20
    assert off_page({"t": template}, page + "\n\nWhat is the word?") == (template, {"kind": "word"}, page)
    assert off_page({"t": template}, page + " What is the word?") is None
