"""The other routes: models, tokenizer, completions, messages, and what an engine shows of itself."""

from __future__ import annotations

from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from selftests.simulator.talk import (
    MESSAGES,
    MODEL,
    SUM,
    inside,
    item_body,
    posted,
    streamed,
    tokenizer,
    told,
    tool_item,
)

GOLDEN = ["", "12345", "def f(x):\n\treturn x", "naïve café — 東京", "🚀👩‍🔬🇯🇵", "  a   b\n\n", "</think><tool_call>"]
ANTHROPIC = {"model": MODEL, "max_tokens": 200}


async def test_models() -> None:
    async with inside(max_model_len=1234, served_name="named", root="/here") as client:
        (card,) = (await client.get("/v1/models")).json()["data"]
    assert (card["id"], card["root"], card["max_model_len"], card["owned_by"]) == ("named", "/here", 1234, "vllm")


@pytest.mark.parametrize("path", ["/health", "/ping"])
async def test_health_has_no_body(path: str) -> None:
    async with inside() as client:
        response = await client.get(path)
    assert (response.status_code, response.content) == (200, b"")


async def test_version_and_route_list() -> None:
    async with inside() as client:
        assert (await client.get("/version")).json() == {"version": "0.32.0"}
        paths = (await client.get("/openapi.json")).json()["paths"]
        for path, methods in paths.items():
            for method in methods:
                response = await client.request(method.upper(), path, json={})
                assert response.status_code in (200, 400), (path, response.text)
    assert {"/v1/chat/completions", "/v1/messages/count_tokens", "/tokenize", "/metrics"} <= set(paths)


@pytest.mark.parametrize("text", GOLDEN)
async def test_the_tokenizer_is_the_models_own(text: str) -> None:
    async with inside() as client:
        body = await told(client, "/tokenize", prompt=text, return_token_strs=True)
        back = await told(client, "/detokenize", tokens=body["tokens"])
    expected = tokenizer().encode(text, add_special_tokens=False)
    assert body["tokens"] == expected.ids
    assert body["token_strs"] == expected.tokens
    assert (body["count"], body["max_model_len"]) == (len(expected.ids), 4096)
    assert back["prompt"] == text


async def test_tokens_outside_the_vocabulary_have_no_text_and_no_token_can_be_negative() -> None:
    async with inside() as client:
        assert await told(client, "/detokenize", tokens=[10**6]) == {"prompt": ""}
        assert (await posted(client, "/detokenize", tokens=[10**12])).status_code == 400
        assert (await posted(client, "/detokenize", tokens=[-1])).status_code == 400


async def test_metrics_parse_and_carry_the_model() -> None:
    async with inside() as client:
        await told(client, "/v1/chat/completions", SUM)
        response = await client.get("/metrics")
    families = {family.name: family for family in text_string_to_metric_families(response.text)}
    assert response.headers["content-type"].startswith("text/plain")
    for name in ("vllm:prompt_tokens", "vllm:time_to_first_token_seconds", "vllm:kv_cache_usage_perc"):
        assert {sample.labels["model_name"] for sample in families[name].samples} == {MODEL}
    assert "process_start_time_seconds" in families


async def test_completions_with_echo_and_logprobs() -> None:
    async with inside() as client:
        body = await told(client, "/v1/completions", prompt="What is 2 + 3?", logprobs=1, echo=True)
        ids = (await told(client, "/tokenize", prompt="What is 2 + 3?"))["tokens"]
        by_ids = await told(client, "/v1/completions", prompt=ids)
    choice = body["choices"][0]
    assert choice["text"] == "What is 2 + 3?5"
    assert by_ids["choices"][0]["text"] == "5"
    assert by_ids["usage"] == body["usage"]
    logprobs = choice["logprobs"]
    assert logprobs["token_logprobs"][0] is None
    assert all(value is not None and value <= 0 for value in logprobs["token_logprobs"][1:])
    assert len(logprobs["tokens"]) == body["usage"]["total_tokens"]


async def test_completions_of_several_prompts() -> None:
    async with inside() as client:
        body = await told(client, "/v1/completions", prompt=["What is 2 + 3?", "What is 4 + 4?"], n=2, temperature=1)
        events = await streamed(client, "/v1/completions", prompt=["What is 2 + 3?", "What is 4 + 4?"])
    assert [choice["text"] for choice in body["choices"]] == ["5", "5", "8", "8"]
    assert [choice["index"] for choice in body["choices"]] == [0, 1, 2, 3]
    texts = ["".join(c["text"] for e in events[:-1] for c in e["choices"] if c["index"] == i) for i in (0, 1)]
    assert texts == ["5", "8"]


async def test_invocations_are_chat_or_completions() -> None:
    async with inside() as client:
        assert (await told(client, "/invocations", SUM))["object"] == "chat.completion"
        assert (await told(client, "/invocations", prompt="x"))["object"] == "text_completion"


async def test_a_message_is_the_chat_answer_in_blocks() -> None:
    async with inside() as client:
        chat = await told(client, "/v1/chat/completions", SUM)
        message = await told(client, MESSAGES, ANTHROPIC, SUM)
        disabled = await told(client, MESSAGES, ANTHROPIC, SUM, thinking={"type": "disabled"})
    said = chat["choices"][0]["message"]
    assert [block["type"] for block in message["content"]] == ["thinking", "text"]
    assert message["content"][0]["thinking"] == said["reasoning"]
    assert message["content"][1]["text"] == said["content"]
    assert message["stop_reason"] == "end_turn"
    assert message["usage"]["output_tokens"] == chat["usage"]["completion_tokens"]
    assert [block["type"] for block in disabled["content"]] == ["text"]


async def test_a_message_with_a_tool() -> None:
    item = tool_item()
    tools = [
        {
            "name": tool["function"]["name"],
            "description": tool["function"]["description"],
            "input_schema": tool["function"]["parameters"],
        }
        for tool in item.tools or ()
    ]
    body = {**ANTHROPIC, **item_body(item), "tools": tools}
    async with inside() as client:
        message = await told(client, MESSAGES, body)
        events = await streamed(client, MESSAGES, body)
    block = message["content"][-1]
    assert {"name": block["name"], "arguments": block["input"]} == item.key
    assert message["stop_reason"] == events[-2]["delta"]["stop_reason"] == "tool_use"


@pytest.mark.parametrize(
    ("fields", "reason", "sequence"),
    [
        ({"max_tokens": 4}, "max_tokens", None),
        ({"stop_sequences": ["803"]}, "stop_sequence", "803"),
        ({"thinking": {"type": "disabled"}}, "end_turn", None),
    ],
)
async def test_why_a_message_stops(fields: dict[str, Any], reason: str, sequence: str | None) -> None:
    async with inside() as client:
        message = await told(client, MESSAGES, ANTHROPIC, SUM, fields)
        events = await streamed(client, MESSAGES, ANTHROPIC, SUM, fields)
    assert message["stop_reason"] == reason
    assert message.get("stop_sequence") == sequence
    assert events[-2]["delta"] == {"stop_reason": reason, "stop_sequence": sequence}


async def test_message_events_open_and_close_blocks_in_order() -> None:
    async with inside() as client:
        events = await streamed(client, MESSAGES, ANTHROPIC, SUM)
    kinds = [event["type"] for event in events]
    assert kinds[0] == "message_start"
    assert kinds[-2:] == ["message_delta", "message_stop"]
    open_block = None
    opened = []
    for event in events:
        if event["type"] == "content_block_start":
            assert open_block is None
            open_block = event["index"]
            opened.append(event["content_block"]["type"])
        elif event["type"] == "content_block_delta":
            assert event["index"] == open_block
        elif event["type"] == "content_block_stop":
            assert event["index"] == open_block
            open_block = None
    assert opened == ["thinking", "text"]
    assert "signature_delta" in [event["delta"]["type"] for event in events if event["type"] == "content_block_delta"]


async def test_replayed_blocks_render_like_the_openai_messages() -> None:
    item = tool_item()
    functions = [tool["function"] for tool in item.tools or ()]
    openai = {
        "messages": [
            {"role": "system", "content": "Be brief."},
            *item.messages,
            {
                "role": "assistant",
                "content": "I look it up.",
                "reasoning": "Which tool?",
                "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}],
            },
            {"role": "tool", "tool_call_id": "c", "content": "found"},
        ],
        "tools": [{"type": "function", "function": function} for function in functions],
    }
    anthropic = {
        "model": MODEL,
        "system": [{"type": "text", "text": "Be brief."}],
        "messages": [
            *item.messages,
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "Which tool?", "signature": "s"},
                    {"type": "text", "text": "I look it up."},
                    {"type": "tool_use", "id": "c", "name": "f", "input": {"a": 1}},
                ],
            },
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": "found"}]},
        ],
        "tools": [
            {"name": f["name"], "description": f["description"], "input_schema": f["parameters"]} for f in functions
        ],
    }
    async with inside() as client:
        expected = (await told(client, "/tokenize", openai))["count"]
        counted = await told(client, MESSAGES + "/count_tokens", anthropic)
        message = await told(client, MESSAGES, anthropic, max_tokens=20)
    assert counted["input_tokens"] == message["usage"]["input_tokens"] == expected
