"""Keys of the tool families: valid against the declarations, and read off the request."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shakedown.serving.tasks import Answer, Item, MaxTokens, Miss, ToolCall, generate, grade, solve
from shakedown.serving.tasks.kinds import KINDS, known

SEEDS = st.integers(min_value=0, max_value=2**40)
TOOL = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Get the current weather for a city.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}


def items(family: str, seed: int) -> list[Item]:
    return generate(family, seed=seed, n=8)


def question(item: Item) -> str:
    return str(item.messages[0]["content"])


def keyed(item: Item) -> list[dict[str, Any]]:
    assert isinstance(item.key, Mapping)
    return list(item.key["calls"]) if "calls" in item.key else [dict(item.key)]


def stated(value: object, text: str) -> bool:
    spelled = {True: "on", False: "off"}[value] if isinstance(value, bool) else str(value)
    return spelled in text


@given(SEEDS, st.sampled_from(("tool-call", "parallel-calls")))
@settings(max_examples=80, deadline=None)
def test_calls_satisfy_the_declaration_of_their_function(seed: int, family: str) -> None:
    for item in items(family, seed):
        declared = {tool["function"]["name"]: tool["function"]["parameters"] for tool in item.tools or ()}
        assert 1 <= len(declared) <= 4
        for call in keyed(item):
            schema = declared[call["name"]]
            jsonschema.validate(call["arguments"], schema)
            assert list(call["arguments"]) == schema["required"]
            assert all(stated(value, question(item)) for value in call["arguments"].values())


@given(SEEDS)
@settings(max_examples=40, deadline=None)
def test_parallel_calls_are_two_or_three_in_any_order(seed: int) -> None:
    for item in items("parallel-calls", seed):
        answer = solve(item.messages, item.tools)
        assert answer is not None
        calls = answer.tool_calls
        assert 2 <= len(calls) <= 3
        assert grade(item, Answer(tool_calls=calls[::-1])).right
        assert grade(item, Answer(tool_calls=calls[:-1])).miss is Miss.WRONG
        assert grade(item, Answer(tool_calls=(*calls, calls[0]))).miss is Miss.WRONG


@given(SEEDS)
@settings(max_examples=40, deadline=None)
def test_tool_results_hold_the_key_and_the_request_does_not(seed: int) -> None:
    for item in items("tool-result", seed):
        roles = [message["role"] for message in item.messages]
        assert roles[:2] == ["user", "assistant"]
        assert set(roles[2:]) == {"tool"}
        ids = [call["id"] for call in item.messages[1]["tool_calls"]]
        assert ids == [message["tool_call_id"] for message in item.messages[2:]]
        secrets = str(item.key).split(", ")
        results = "\n".join(str(message["content"]) for message in item.messages[2:])
        assert len(secrets) == len(ids)
        assert all(results.count(secret) == 1 and secret not in question(item) for secret in secrets)


@pytest.mark.parametrize("family", ["tool-abstention", "no-fitting-tool"])
def test_no_offered_tool_fits_where_no_call_is_due(family: str) -> None:
    for item in generate(family, seed=3, n=100):
        functions = known(item.tools or ())
        assert len(functions) == len(item.tools or ()) > 0
        assert not any(function.kind.understand(question(item)) for function in functions.values())


def test_every_function_is_understood_under_every_name() -> None:
    rng = random.Random(1)
    for kind in KINDS:
        for _ in range(100):
            ((topic, function),) = known([kind.declare(rng)]).items()
            assert topic == kind.topic
            assert sorted(function.slots.values()) == sorted(kind.parameters)


def test_names_and_descriptions_are_of_one_kind_and_parameters_of_one_slot() -> None:
    for texts in ([k.names for k in KINDS], [k.descriptions for k in KINDS], [k.questions for k in KINDS]):
        assert len({text for group in texts for text in group}) == sum(map(len, texts))
    for kind in KINDS:
        names = [name.replace("_", "") for parameter in kind.parameters.values() for name in parameter.names]
        assert len(set(names)) == len(names)
        assert len(kind.questions) + len(kind.orders) >= 3
        assert not any("," in order for order in kind.orders)


def test_names_are_no_closed_set() -> None:
    offered = [tool["function"]["name"] for item in generate("tool-call", seed=1, n=400) for tool in item.tools or ()]
    assert len(set(offered)) > len(offered) / 3
    assert any(re.search("[A-Z]", name) for name in offered)


def test_a_declaration_from_elsewhere_is_read_by_its_description() -> None:
    answer = solve([{"role": "user", "content": "How is the weather in Paris today?"}], [TOOL])
    assert answer is not None
    assert answer.tool_calls == (ToolCall("get_weather", '{"city": "Paris"}'),)


def test_an_unknown_declaration_is_passed_over() -> None:
    other = {"type": "function", "function": {"name": "x", "description": "Does x.", "parameters": None}}
    answer = solve([{"role": "user", "content": "How is the weather in Paris today?"}], [other])
    assert answer is not None
    assert not answer.tool_calls
    assert "cannot" in answer.content


@pytest.mark.parametrize(
    ("content", "right"),
    [
        ("I don't have a tool for the weather.", True),
        ("Sorry, none of my functions can do this.", True),
        ("I’m unable to check that with the functions at hand.", True),
        ("The weather in Paris is sunny.", False),
    ],
)
def test_declining_in_any_words_counts(content: str, right: bool) -> None:
    item = Item("no-fitting-tool", "any", 0, 0, (), "no call", MaxTokens(100, 100))
    assert grade(item, Answer(content=content)).right is right
    assert grade(item, Answer(content=content, tool_calls=(ToolCall("a", "{}"),))).miss is not None


def test_results_of_every_shape_reach_the_answer() -> None:
    call = {"role": "assistant", "content": "", "tool_calls": []}
    results = [{"role": "tool", "content": text} for text in ('{"a": {"b": "x1"}, "c": [2, true]}', "plain x2")]
    answer = solve([{"role": "user", "content": "Go."}, call, *results])
    assert answer is not None
    assert answer.content == "Result: x1, 2, true, plain x2"
