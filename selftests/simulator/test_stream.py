"""Streams: framing, order, usage, and the same text as the whole answer."""

from __future__ import annotations

import json
from typing import Any

import pytest

from selftests.simulator.talk import CHAT, OFF, SUM, inside, item_body, joined, streamed, told, tool_item
from shakedown.serving.tasks import FAMILIES, generate
from shakedown.simulator.settings import Timing

USAGE = {"stream_options": {"include_usage": True}}


@pytest.mark.parametrize("tokens_per_chunk", [1, 3, 100])
@pytest.mark.parametrize("thinking", [{}, OFF], ids=["thinking", "plain"])
async def test_a_stream_says_what_the_whole_answer_says(tokens_per_chunk: int, thinking: dict[str, Any]) -> None:
    async with inside(timing=Timing(0.0, 0.0, tokens_per_chunk)) as client:
        for family in FAMILIES:
            body = item_body(generate(family, seed=4, n=1)[0])
            whole = await told(client, CHAT, body, thinking)
            events = await streamed(client, CHAT, body, thinking, USAGE)
            message = whole["choices"][0]["message"]
            assert joined(events, "reasoning") == (message["reasoning"] or "")
            assert joined(events, "content").strip() == (message["content"] or "").strip()
            assert "\N{REPLACEMENT CHARACTER}" not in joined(events, "content")
            assert calls_of(events) == [call["function"] for call in message.get("tool_calls", ())]
            assert last_choice(events)["finish_reason"] == whole["choices"][0]["finish_reason"]
            assert events[-2]["usage"] == {k: v for k, v in whole["usage"].items() if v is not None}


def last_choice(events: list[Any]) -> dict[str, Any]:
    last: dict[str, Any] = [event for event in events if isinstance(event, dict) and event["choices"]][-1]["choices"][0]
    return last


def calls_of(events: list[Any]) -> list[dict[str, str]]:
    """Names and arguments put together again; id, type and name must come once and first."""
    calls: dict[int, dict[str, str]] = {}
    for event in events:
        for choice in event["choices"] if isinstance(event, dict) else ():
            for call in choice["delta"].get("tool_calls", ()):
                if call["index"] not in calls:
                    assert call["id"]
                    assert call["type"] == "function"
                    calls[call["index"]] = {"name": call["function"]["name"], "arguments": ""}
                else:
                    assert set(call) == {"index", "function"}
                    calls[call["index"]]["arguments"] += call["function"]["arguments"]
    return list(calls.values())


async def test_the_frame_of_a_stream() -> None:
    async with inside() as client:
        events = await streamed(client, CHAT, SUM, USAGE)
    *chunks, done = events
    assert done == "[DONE]"
    assert {(c["id"], c["created"], c["model"], c["object"]) for c in chunks} == {
        (chunks[0]["id"], chunks[0]["created"], "shakedown-tiny", "chat.completion.chunk")
    }
    assert chunks[0]["choices"][0]["delta"] == {"role": "assistant", "content": ""}
    reasons = [choice["finish_reason"] for chunk in chunks for choice in chunk["choices"]]
    assert reasons == [None] * (len(reasons) - 1) + ["stop"]
    assert chunks[-1]["choices"] == []
    assert all("usage" not in chunk for chunk in chunks[:-1])


async def test_reasoning_comes_before_content() -> None:
    async with inside() as client:
        events = await streamed(client, CHAT, SUM)
    kinds = [next(iter(c["delta"]), "end") for e in events[1:] if isinstance(e, dict) for c in e["choices"]]
    first_content = kinds.index("content")
    assert set(kinds[:first_content]) == {"reasoning"}
    assert set(kinds[first_content:]) == {"content", "end"}


async def test_no_usage_unless_asked() -> None:
    async with inside() as client:
        events = await streamed(client, CHAT, SUM)
    assert all("usage" not in event and event["choices"] for event in events[:-1])


async def test_continuous_usage_grows_to_the_end() -> None:
    options = {"stream_options": {"include_usage": True, "continuous_usage_stats": True}}
    async with inside() as client:
        events = await streamed(client, CHAT, SUM, options)
    counts = [event["usage"]["completion_tokens"] for event in events[:-1]]
    assert counts == sorted(counts)
    assert counts[0] == 0
    assert counts[-1] == counts[-2]
    assert events[-2]["usage"]["completion_tokens_details"] == events[-3]["usage"]["completion_tokens_details"]


async def test_every_token_of_a_chunk_is_in_it() -> None:
    async with inside(timing=Timing(0.0, 0.0, 7)) as client:
        events = await streamed(client, CHAT, SUM, return_token_ids=True, max_tokens=20)
    sizes = [len(e["choices"][0].get("token_ids") or ()) for e in events[1:-1]]
    assert sizes == [7, 7, 6]


async def test_several_choices_are_told_apart() -> None:
    async with inside() as client:
        events = await streamed(client, CHAT, SUM, OFF, USAGE, n=2, temperature=1)
    assert joined(events, "content", 0) == joined(events, "content", 1) == "803"
    assert events[-2]["usage"]["completion_tokens"] == 8


async def test_logprobs_stand_beside_every_token() -> None:
    async with inside() as client:
        whole = await told(client, CHAT, SUM, logprobs=True, top_logprobs=2)
        events = await streamed(client, CHAT, SUM, logprobs=True, top_logprobs=2)
    entries = [
        entry for event in events[1:-1] for choice in event["choices"] for entry in choice["logprobs"]["content"]
    ]
    assert entries == whole["choices"][0]["logprobs"]["content"]


async def test_a_call_that_is_cut_off_ends_with_length() -> None:
    async with inside() as client:
        events = await streamed(client, CHAT, item_body(tool_item()), OFF, max_tokens=20)
    assert last_choice(events)["finish_reason"] == "length"


async def test_events_are_single_lines_of_json() -> None:
    async with inside() as client:
        response = await client.post(CHAT, json={**SUM, "stream": True})
    for event in response.text.removesuffix("\n\n").split("\n\n"):
        assert event.startswith("data: ")
        assert "\n" not in event
        if event != "data: [DONE]":
            json.loads(event.removeprefix("data: "))
