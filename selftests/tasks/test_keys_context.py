"""Keys that stand somewhere in a long prompt."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping

import jsonschema
from hypothesis import given, settings
from hypothesis import strategies as st

from shakedown.serving.tasks import Answer, Item, generate, grade, solve
from shakedown.serving.tasks.facts import FACTS, SENTENCES, UNKNOWN
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


@given(SEEDS)
@settings(max_examples=60, deadline=None)
def test_extraction_keys_satisfy_their_own_schema_and_stand_in_the_text(seed: int) -> None:
    for item in items("extraction", seed):
        assert isinstance(item.key, Mapping)
        assert item.response_schema is not None
        jsonschema.validate(item.key, item.response_schema)
        assert list(item.response_schema["required"]) == list(item.key)
        assert 1 <= len(item.key) <= 5
        for name, value in leaves(item.key):
            assert name in question(item)
            assert value is True or value is False or (UNKNOWN if value is None else str(value)) in question(item)


def leaves(value: object, name: str = "") -> Iterator[tuple[str, object]]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from leaves(inner, key)
    elif isinstance(value, list):
        for inner in value:
            yield from leaves(inner, name)
    else:
        yield name, value


def test_extraction_asks_for_values_of_every_type() -> None:
    keys = [value for item in generate("extraction", seed=1, n=400) for value in dict(item.key).values()]  # type: ignore[arg-type]
    assert {type(value) for value in keys} == {str, int, bool, list, dict, type(None)}


def test_a_sentence_never_states_two_facts_under_one_key() -> None:
    rng = random.Random(1)
    for sentence in SENTENCES.values():
        text = sentence.render({slot: fact.draw(rng) for slot, fact in FACTS.items()})
        keys = [key for slot in sentence.match(text) or {} for key in FACTS[slot].keys]
        assert len(set(keys)) == len(keys) > 0


def test_a_key_that_the_sentence_does_not_state_is_not_answered() -> None:
    asked = "Return JSON with keys {} from: Clara, aged 41, comes from Oslo."
    answer = solve([{"role": "user", "content": asked.format("age, name")}])
    assert answer is not None
    assert json.loads(answer.content) == {"age": 41, "name": "Clara"}
    assert solve([{"role": "user", "content": asked.format("age, street")}]) is None
