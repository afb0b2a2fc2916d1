"""The pool as a whole: made from a seed, recognised from the prompt alone, right by its own solution."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shakedown.serving.tasks import FAMILIES, Answer, generate, grade, recognise, solve

SEEDS = st.integers(min_value=0, max_value=2**40)
FAMILY = st.sampled_from(sorted(FAMILIES))


@given(FAMILY, SEEDS, st.integers(min_value=0, max_value=12), st.integers(min_value=0, max_value=12))
@settings(max_examples=60, deadline=None)
def test_an_item_depends_on_family_seed_and_index_alone(family: str, seed: int, n: int, more: int) -> None:
    assert generate(family, seed=seed, n=n + more)[:n] == generate(family, seed=seed, n=n)


@given(FAMILY, SEEDS)
@settings(max_examples=150, deadline=None)
def test_every_item_is_recognised_and_its_solution_is_right(family: str, seed: int) -> None:
    for item in generate(family, seed=seed, n=6):
        found = recognise(item.messages, item.tools or ())
        assert found is not None
        assert found[0] == family
        assert found[1].thinking
        verdict = grade(item, found[1])
        assert verdict.right, (item, verdict)


@pytest.mark.parametrize("family", FAMILIES)
def test_every_phrasing_has_its_turn(family: str) -> None:
    phrasings = FAMILIES[family].templates
    assert len(phrasings) >= 4
    assert len(set(phrasings)) == len(phrasings)
    items = generate(family, seed=1, n=len(phrasings))
    assert {item.template for item in items} == set(phrasings)
    for item in items:
        assert grade(item, solve(item.messages, item.tools) or Answer()).right, item


@pytest.mark.parametrize("family", FAMILIES)
def test_two_seeds_hardly_ever_ask_the_same(family: str) -> None:
    first, second = ([item.messages for item in generate(family, seed=seed, n=60)] for seed in (1, 2))
    assert sum(messages in first for messages in second) <= 6


@pytest.mark.parametrize("family", FAMILIES)
def test_the_budget_covers_the_solution_with_room(family: str) -> None:
    for item in generate(family, seed=4, n=30):
        answer = solve(item.messages, item.tools)
        assert answer is not None
        calls = "".join(call.name + call.arguments for call in answer.tool_calls)
        assert len(answer.content + calls) <= item.max_tokens.plain
        assert len(answer.thinking + answer.content + calls) <= item.max_tokens.thinking


@pytest.mark.parametrize(
    "text",
    ["", "Hello", "What is 12345 + 5?", "What is love?", "Reverse the string .", "Repeat this nonce: ", "Count."],
)
def test_other_prompts_are_not_recognised(text: str) -> None:
    assert solve([{"role": "user", "content": text}]) is None


def test_a_system_message_does_not_hide_the_question() -> None:
    item = generate("arithmetic", seed=2, n=1)[0]
    answer = solve([{"role": "system", "content": "Be concise."}, *item.messages])
    assert answer is not None
    assert grade(item, answer).right


def test_text_parts_are_read_like_text() -> None:
    item = generate("reverse", seed=2, n=1)[0]
    parts = [{"type": "text", "text": item.messages[0]["content"]}]
    answer = solve([{"role": "user", "content": parts}])
    assert answer is not None
    assert grade(item, answer).right
