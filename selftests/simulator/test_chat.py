"""Chat completions that come whole: content, reasoning, tools, constraints, and every way to end."""

from __future__ import annotations

import json
import re
from typing import Any

import jsonschema
import pytest

from selftests.simulator.talk import CHAT, OFF, SUM, UNKNOWN, inside, item_body, told, tool_item
from shakedown.serving.tasks import FAMILIES, Answer, ToolCall, generate, grade

SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 6},
        "kind": {"enum": ["a", "b"]},
        "sizes": {"type": "array", "items": {"type": "integer", "minimum": 3}, "minItems": 2},
        "inner": {"$ref": "#/$defs/inner"},
        "either": {"anyOf": [{"type": "null"}, {"type": "string"}]},
    },
    "required": ["name", "kind", "sizes", "inner", "either"],
    "additionalProperties": False,
    "$defs": {"inner": {"type": "object", "properties": {"on": {"type": "boolean"}}, "required": ["on"]}},
}


def json_schema(schema: dict[str, Any]) -> dict[str, Any]:
    return {"response_format": {"type": "json_schema", "json_schema": {"name": "any", "schema": schema}}}


def choice_of(body: dict[str, Any]) -> dict[str, Any]:
    choice: dict[str, Any] = body["choices"][0]
    return choice


def answer_of(body: dict[str, Any]) -> Answer:
    choice = choice_of(body)
    message = choice["message"]
    calls = (call["function"] for call in message.get("tool_calls", ()))
    return Answer(
        thinking=message["reasoning"] or "",
        content=message["content"] or "",
        tool_calls=tuple(ToolCall(call["name"], call["arguments"]) for call in calls),
        finish_reason=choice["finish_reason"],
    )


@pytest.mark.parametrize("thinking", [{}, OFF], ids=["thinking", "plain"])
@pytest.mark.parametrize("family", FAMILIES)
async def test_every_task_is_answered_right(family: str, thinking: dict[str, Any]) -> None:
    async with inside() as client:
        for item in generate(family, seed=11, n=5):
            body = await told(client, CHAT, item_body(item), thinking)
            verdict = grade(item, answer_of(body))
            assert verdict.right, (item, verdict)
            assert bool(answer_of(body).thinking) == (not thinking)


async def test_the_shape_is_that_of_vllm() -> None:
    async with inside() as client:
        body = await told(client, CHAT, SUM)
    assert re.fullmatch(r"chatcmpl-[0-9a-f]{16}", body["id"])
    assert body["object"] == "chat.completion"
    assert body["model"] == "shakedown-tiny"
    message = choice_of(body)["message"]
    assert set(message) == {"role", "content", "refusal", "annotations", "audio", "function_call", "reasoning"}
    assert set(choice_of(body)) == {
        "index",
        "message",
        "logprobs",
        "finish_reason",
        "stop_reason",
        "token_ids",
        "routed_experts",
    }
    assert choice_of(body)["finish_reason"] == "stop"


async def test_anything_else_gets_an_honest_short_answer() -> None:
    async with inside() as client:
        body = await told(client, CHAT, UNKNOWN)
    assert "simulator" in choice_of(body)["message"]["content"]
    assert body["usage"]["completion_tokens"] < 80


async def test_thinking_that_is_cut_off_stays_reasoning() -> None:
    async with inside() as client:
        body = await told(client, CHAT, SUM, max_tokens=16)
    assert choice_of(body)["finish_reason"] == "length"
    assert choice_of(body)["message"]["content"] is None
    assert choice_of(body)["message"]["reasoning"].startswith("7+6=13")
    assert body["usage"]["completion_tokens"] == 16
    assert body["usage"]["completion_tokens_details"]["reasoning_tokens"] == 16


async def test_a_thinking_budget_shortens_the_reasoning_and_not_the_answer() -> None:
    async with inside() as client:
        body = await told(client, CHAT, SUM, thinking_token_budget=7)
    assert choice_of(body)["message"]["content"] == "\n\n803"
    assert choice_of(body)["message"]["reasoning"] == "7+6=13\n"
    assert body["usage"]["completion_tokens_details"]["reasoning_tokens"] == 7


async def test_hidden_reasoning_is_generated_and_counted() -> None:
    async with inside() as client:
        shown = await told(client, CHAT, SUM)
        hidden = await told(client, CHAT, SUM, include_reasoning=False, logprobs=True, return_token_ids=True)
    assert choice_of(hidden)["message"]["reasoning"] is None
    assert choice_of(hidden)["logprobs"] is choice_of(hidden)["token_ids"] is None
    assert hidden["usage"] == shown["usage"]


async def test_ignoring_the_end_gives_exactly_the_tokens_asked_for() -> None:
    async with inside() as client:
        for asked in (1, 2, 17, 300):
            body = await told(client, CHAT, SUM, OFF, max_tokens=asked, ignore_eos=True)
            assert body["usage"]["completion_tokens"] == asked
            assert choice_of(body)["finish_reason"] == "length"


async def test_min_tokens_come_before_the_end() -> None:
    async with inside() as client:
        body = await told(client, CHAT, SUM, OFF, min_tokens=20, max_tokens=50)
    assert body["usage"]["completion_tokens"] == 20
    assert choice_of(body)["finish_reason"] == "stop"


async def test_a_stop_text_ends_the_answer_before_it() -> None:
    count_up = {"messages": [{"role": "user", "content": "Count from 1 to 20."}]}
    async with inside() as client:
        without = await told(client, CHAT, count_up, OFF, stop=["7", "nothing"])
        kept = await told(client, CHAT, count_up, OFF, stop=", 3,", include_stop_str_in_output=True)
    assert choice_of(without)["message"]["content"] == "1, 2, 3, 4, 5, 6, "
    assert (choice_of(without)["finish_reason"], choice_of(without)["stop_reason"]) == ("stop", "7")
    assert choice_of(kept)["message"]["content"] == "1, 2, 3,"


async def test_a_stop_token_ends_the_answer() -> None:
    async with inside() as client:
        three = (await told(client, "/tokenize", prompt="3"))["tokens"][0]
        body = await told(client, CHAT, SUM, OFF, stop_token_ids=[three])
    assert choice_of(body)["message"]["content"] == "80"
    assert choice_of(body)["stop_reason"] == three


async def test_several_choices_are_counted_together() -> None:
    async with inside() as client:
        one = await told(client, CHAT, SUM, OFF)
        three = await told(client, CHAT, SUM, OFF, n=3, temperature=1)
    assert [choice["index"] for choice in three["choices"]] == [0, 1, 2]
    assert three["usage"]["completion_tokens"] == 3 * one["usage"]["completion_tokens"]
    assert three["usage"]["prompt_tokens"] == one["usage"]["prompt_tokens"]


async def test_logprobs_are_those_of_a_distribution() -> None:
    async with inside() as client:
        body = await told(client, CHAT, SUM, OFF, logprobs=True, top_logprobs=4, return_token_ids=True)
    entries = choice_of(body)["logprobs"]["content"]
    assert len(entries) == len(choice_of(body)["token_ids"])
    for entry in entries:
        assert [top["logprob"] for top in entry["top_logprobs"]] == sorted(
            (top["logprob"] for top in entry["top_logprobs"]), reverse=True
        )
        assert entry["token"] == entry["top_logprobs"][0]["token"]
        assert sum(2.718281828 ** top["logprob"] for top in entry["top_logprobs"]) <= 1
        assert bytes(entry["bytes"]).decode() == entry["token"]


@pytest.mark.parametrize(
    ("tool_choice", "finish"), [("auto", "tool_calls"), ("required", "tool_calls"), ("named", "stop")]
)
async def test_a_tool_call_ends_as_it_was_asked_for(tool_choice: str, finish: str) -> None:
    item = tool_item()
    assert isinstance(item.key, dict)
    named = {"type": "function", "function": {"name": item.key["name"]}}
    async with inside() as client:
        body = await told(client, CHAT, item_body(item), tool_choice=named if tool_choice == "named" else tool_choice)
    assert choice_of(body)["finish_reason"] == finish
    assert grade(item, answer_of(body)).right
    assert not (choice_of(body)["message"]["content"] or "").strip()
    assert choice_of(body)["message"]["reasoning"]


async def test_forced_calls_satisfy_the_declaration() -> None:
    tools = list(tool_item().tools or ())
    choice = {"type": "function", "function": {"name": tools[-1]["function"]["name"]}}
    async with inside() as client:
        required = await told(client, CHAT, SUM, tools=tools, tool_choice="required")
        named = await told(client, CHAT, SUM, tools=tools, tool_choice=choice)
    for body, tool in ((required, tools[0]), (named, tools[-1])):
        call = answer_of(body).tool_calls[0]
        assert call.name == tool["function"]["name"]
        jsonschema.validate(json.loads(call.arguments), tool["function"]["parameters"])


async def test_no_tool_choice_means_no_call_and_no_markup() -> None:
    async with inside() as client:
        body = await told(client, CHAT, item_body(tool_item()), tool_choice="none")
    assert "tool_calls" not in choice_of(body)["message"]
    assert choice_of(body)["message"]["content"].strip()
    assert "<tool_call>" not in choice_of(body)["message"]["content"]


async def test_a_call_that_is_cut_off_is_no_call() -> None:
    async with inside() as client:
        body = await told(client, CHAT, item_body(tool_item()), OFF, max_tokens=12)
    assert choice_of(body)["finish_reason"] == "length"
    assert "tool_calls" not in choice_of(body)["message"]


@pytest.mark.parametrize("thinking", [{}, OFF], ids=["thinking", "plain"])
async def test_a_schema_wins_over_the_prompt(thinking: dict[str, Any]) -> None:
    async with inside() as client:
        body = await told(client, CHAT, UNKNOWN, thinking, json_schema(SCHEMA))
    jsonschema.validate(json.loads(choice_of(body)["message"]["content"]), SCHEMA)


async def test_an_answer_that_fits_its_schema_is_kept() -> None:
    item = generate("extraction", seed=5, n=1)[0]
    assert item.response_schema is not None
    async with inside() as client:
        body = await told(client, CHAT, item_body(item), json_schema(dict(item.response_schema)))
    assert grade(item, answer_of(body)).right


@pytest.mark.parametrize(
    ("constraint", "pattern"),
    [
        ({"choice": ["north", "south"]}, "north|south"),
        ({"regex": r"[A-F]{2}-\d+(x|y)?"}, r"[A-F]{2}-\d+(x|y)?"),
        ({"json_object": True}, r"\{.*\}"),
        ({"json": json.dumps({"type": "array", "items": {"type": "boolean"}})}, r"\[true\]"),
    ],
)
async def test_structured_outputs_match_in_full(constraint: dict[str, Any], pattern: str) -> None:
    async with inside() as client:
        body = await told(client, CHAT, UNKNOWN, OFF, structured_outputs=constraint)
    assert re.fullmatch(pattern, choice_of(body)["message"]["content"])


async def test_unknown_fields_have_no_effect() -> None:
    async with inside() as client:
        plain = await told(client, CHAT, SUM, OFF)
        extra = await told(client, CHAT, SUM, OFF, guided_choice=["x"], nonsense=1)
    assert choice_of(extra)["message"] == choice_of(plain)["message"]
