"""Every count is exact: in usage, in token ids, in the metrics."""

from __future__ import annotations

import asyncio

import httpx
import pytest

from selftests.simulator.talk import (
    CHAT,
    MESSAGES,
    MODEL,
    OFF,
    SUM,
    UNKNOWN,
    count,
    inside,
    item_body,
    metric,
    posted,
    streamed,
    tokenizer,
    told,
    tool_item,
)
from shakedown.serving.tasks import generate
from shakedown.simulator.run import Running
from shakedown.simulator.settings import Timing

PROMPT = "<|turn|>user\nWhat is 417 + 386?<|end|>\n<|turn|>assistant\n<think>\n"


async def test_usage_counts_the_rendered_prompt_and_every_generated_token() -> None:
    async with inside() as client:
        body = await told(client, CHAT, SUM)
    message = body["choices"][0]["message"]
    generated = f"{message['reasoning']}</think>{message['content']}<|end|>"
    assert message["content"] == "\n\n803"
    assert body["usage"]["prompt_tokens"] == count(PROMPT)
    assert body["usage"]["completion_tokens"] == count(generated)
    assert body["usage"]["total_tokens"] == count(PROMPT) + count(generated)
    assert body["usage"]["completion_tokens_details"]["reasoning_tokens"] == count(message["reasoning"])


async def test_thinking_off_closes_the_block_in_the_prompt() -> None:
    async with inside() as client:
        body = await told(client, CHAT, SUM, OFF)
        by_effort = await told(client, CHAT, SUM, reasoning_effort="none")
    assert body["usage"]["prompt_tokens"] == count(PROMPT + "\n</think>\n\n")
    assert body["usage"] == by_effort["usage"]
    assert body["usage"]["completion_tokens"] == count("803<|end|>")
    assert body["usage"]["completion_tokens_details"]["reasoning_tokens"] == 0
    assert body["choices"][0]["message"]["reasoning"] is None


async def test_token_ids_are_the_tokens_that_are_counted() -> None:
    async with inside() as client:
        body = await told(client, CHAT, SUM, return_token_ids=True)
        events = await streamed(client, CHAT, SUM, return_token_ids=True, stream_options={"include_usage": True})
    ids = body["choices"][0]["token_ids"]
    assert body["prompt_token_ids"] == tokenizer().encode(PROMPT, add_special_tokens=False).ids
    assert len(ids) == body["usage"]["completion_tokens"]
    text = tokenizer().decode(ids, skip_special_tokens=False)
    message = body["choices"][0]["message"]
    assert text == f"{message['reasoning']}</think>{message['content']}<|end|>"
    chunks = [event for event in events if isinstance(event, dict)]
    assert chunks[0]["prompt_token_ids"] == body["prompt_token_ids"]
    assert [id for chunk in chunks for c in chunk["choices"] for id in c.get("token_ids") or ()] == ids
    assert chunks[-1]["usage"]["completion_tokens"] == len(ids)


@pytest.mark.parametrize("family", ["nonce", "unicode-line", "needle", "extraction", "tool-call", "recall"])
async def test_chat_tokenize_and_messages_count_the_same_prompt(family: str) -> None:
    async with inside() as client:
        for item in generate(family, seed=3, n=3):
            body = item_body(item)
            chat = await told(client, CHAT, body, max_tokens=1)
            tokenized = await told(client, "/tokenize", body)
            assert chat["usage"]["prompt_tokens"] == tokenized["count"] == len(tokenized["tokens"])
            tools = [
                {
                    "name": tool["function"]["name"],
                    "description": tool["function"]["description"],
                    "input_schema": tool["function"]["parameters"],
                }
                for tool in item.tools or ()
            ]
            anthropic = {"model": MODEL, "messages": body["messages"]} | ({"tools": tools} if tools else {})
            counted = await told(client, MESSAGES + "/count_tokens", anthropic)
            message = await told(client, MESSAGES, anthropic, max_tokens=1)
            assert counted["input_tokens"] == message["usage"]["input_tokens"] == tokenized["count"]


async def test_metrics_grow_by_exactly_what_usage_says() -> None:
    async with inside() as client:
        bodies = [
            await told(client, CHAT, SUM),
            await told(client, CHAT, SUM, OFF, max_tokens=2),
            await told(client, CHAT, item_body(tool_item())),
            await told(client, CHAT, UNKNOWN, OFF, n=3),
            await told(client, "/v1/completions", prompt="one two three", max_tokens=5),
        ]
        last = (await streamed(client, CHAT, SUM, stream_options={"include_usage": True}))[-2]
        page = (await client.get("/metrics")).text
    usages = [body["usage"] for body in [*bodies, last]]
    assert metric(page, "vllm:prompt_tokens_total") == sum(usage["prompt_tokens"] for usage in usages)
    assert metric(page, "vllm:generation_tokens_total") == sum(usage["completion_tokens"] for usage in usages)
    assert metric(page, "vllm:request_success_total", ['finished_reason="stop"']) == 6
    assert metric(page, "vllm:request_success_total", ['finished_reason="length"']) == 2
    assert metric(page, "vllm:prefix_cache_hits_total") == 0
    assert metric(page, "vllm:num_requests_running") == metric(page, "vllm:num_requests_waiting") == 0
    assert metric(page, "vllm:e2e_request_latency_seconds_count") == 6


async def test_refusals_count_nothing() -> None:
    async with inside() as client:
        await posted(client, CHAT, {"messages": []})
        await posted(client, CHAT, {"messages": [{"role": "user", "content": "x " * 5000}]})
        page = (await client.get("/metrics")).text
    assert metric(page, "vllm:prompt_tokens_total") == 0
    assert metric(page, "vllm:request_success_total") == 0


async def test_running_and_waiting_are_seen_while_they_last() -> None:
    async with inside(timing=Timing(ttft_s=0.2, itl_s=0.0), max_concurrency=2) as client:
        tasks = [asyncio.create_task(told(client, CHAT, SUM)) for _ in range(5)]
        await asyncio.sleep(0.1)
        page = (await client.get("/metrics")).text
        load = (await client.get("/load")).json()
        await asyncio.gather(*tasks)
    assert metric(page, "vllm:num_requests_running") == load["server_load"] == 2
    assert metric(page, "vllm:num_requests_waiting") == 3


async def test_a_client_that_goes_away_is_counted_as_abort(slow: Running) -> None:
    async with httpx.AsyncClient(base_url=slow.base_url) as client:
        body = {**SUM, "stream": True}
        async with client.stream("POST", CHAT, json=body) as response:
            async for _ in response.aiter_bytes():
                break
        for _ in range(100):
            page = (await client.get("/metrics")).text
            if metric(page, "vllm:num_requests_running") == 0:
                break
            await asyncio.sleep(0.01)
    assert metric(page, "vllm:num_requests_running") == 0
    assert metric(page, "vllm:request_success_total", ['finished_reason="abort"']) == 1
    assert metric(page, "vllm:request_success_total", ['finished_reason="stop"']) == 0
