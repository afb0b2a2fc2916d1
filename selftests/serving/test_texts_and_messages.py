"""Judges of text as such, of messages of the Anthropic API, of token round trips, and of the server's own counters."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selftests.serving.examples import exchange, lines, whole
from shakedown.engines.vllm.wire import Route, parse_version, required_routes
from shakedown.errors import ServerError
from shakedown.serving.capabilities import missing_routes, served_models, version_of
from shakedown.serving.counters import Work, parse_metrics, work_of
from shakedown.serving.judges import degeneration, messages
from shakedown.serving.judges.tokens import round_trip
from shakedown.serving.message import Block, Message
from shakedown.serving.tasks import FAMILIES, generate, solve

DEGENERATE = {
    "run": "The answer is" + "a" * 20,
    "loop": "the cat sat " * 8,
    "one-word": "no " * 40,
    "marks": "!" * 12,
    "marks-in-text": "Well !!!!!!!! done",
    "control": "a\x07b",
    "zip": "abcdefghij" * 60,
}


@pytest.mark.parametrize("name", DEGENERATE)
def test_degenerate_text_is_seen(name: str) -> None:
    assert list(degeneration.signs(DEGENERATE[name]))


@pytest.mark.parametrize("text", ["803", "Line one\n\tline two", "1, 2, 3, 4, 5", "Wow!!", "東京 🚀", "aaaa", "-" * 10])
def test_healthy_text_is_left_alone(text: str) -> None:
    assert list(degeneration.signs(text)) == []


@pytest.mark.parametrize("family", FAMILIES)
def test_right_answers_of_the_pool_are_healthy(family: str) -> None:
    for item in generate(family, seed=11, n=60):
        answer = solve(item.messages, item.tools)
        assert answer is not None
        assert list(degeneration.signs(answer.content, str(item.messages[-1]["content"]))) == []
        assert list(degeneration.signs(answer.thinking)) == []


def test_what_the_prompt_holds_may_come_back() -> None:
    asked = {"messages": [{"role": "user", "content": "Repeat: " + "a" * 30}]}
    assert list(degeneration.healthy(whole("a" * 30, request=asked))) == []
    assert list(degeneration.healthy(whole("b" * 30, request=asked)))


@given(st.text(max_size=300))
def test_no_text_makes_the_detectors_raise(text: str) -> None:
    list(degeneration.signs(text, text))


USAGE = {"input_tokens": 20, "output_tokens": 5}
THINKING = {"type": "thinking", "thinking": "4+3", "signature": "x"}
TEXT = {"type": "text", "text": "7"}


def message(*blocks: Mapping[str, Any], **changes: Any) -> Message:
    body = {"type": "message", "role": "assistant", "content": list(blocks), "stop_reason": "end_turn", "usage": USAGE}
    return Message(exchange({**body, **changes}))


START = {"type": "message_start", "message": {"type": "message", "role": "assistant", "content": [], "usage": USAGE}}
STOP = {"type": "message_stop"}
END = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": USAGE}


def block(index: int, type: str, *deltas: str) -> list[dict[str, Any]]:
    kind = f"{type}_delta"
    return [
        {"type": "content_block_start", "index": index, "content_block": {"type": type, type: ""}},
        *({"type": "content_block_delta", "index": index, "delta": {"type": kind, type: text}} for text in deltas),
        {"type": "content_block_stop", "index": index},
    ]


def stream(*events: Mapping[str, Any]) -> Message:
    return Message(exchange(lines(*events, "[DONE]"), request={"stream": True}))


def test_a_message_reads_the_same_whole_and_streamed() -> None:
    came = stream(START, *block(0, "thinking", "4", "+3"), *block(1, "text", "7"), END, STOP)
    sent = message(THINKING, TEXT)
    assert came.blocks == sent.blocks == (Block("thinking", "4+3"), Block("text", "7"))
    assert came.stop_reason == sent.stop_reason == "end_turn"
    assert (came.input_tokens, came.output_tokens) == (sent.input_tokens, sent.output_tokens) == (20, 5)
    for one in (came, sent):
        assert list(messages.shape(one, thinking=True)) == []
    assert list(messages.order(came)) == []


def test_cached_tokens_are_part_of_the_prompt() -> None:
    usage = {"input_tokens": 4, "cache_read_input_tokens": 16, "output_tokens": 5}
    assert message(TEXT, usage=usage).input_tokens == 20


@pytest.mark.parametrize(
    ("wrong", "expected"),
    [
        (message(TEXT), "blocks are ['text']"),
        (message(TEXT, THINKING), "blocks are ['text', 'thinking']"),
        (message(THINKING, {"type": "text", "text": " "}), "empty blocks: text"),
        (message(THINKING, TEXT, stop_reason=None), "stop_reason is ''"),
        (message(THINKING, TEXT, usage={}), "usage counts None"),
        (message(THINKING, TEXT, role="user"), "role 'user'"),
    ],
    ids=["no-thinking", "order", "empty", "no-reason", "no-usage", "role"],
)
def test_wrong_messages(wrong: Message, expected: str) -> None:
    assert any(expected in found for found in messages.shape(wrong, thinking=True))


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        ([START, *block(0, "text", "7"), STOP], "message_stop in state 'between'"),
        ([START, *block(1, "text", "7"), END, STOP], "has index 1, expected 0"),
        ([START, *block(0, "thinking", "a")[:-1], *block(1, "text", "7"), END, STOP], "content_block_start in state"),
        ([START, *block(0, "text", "7"), END], "ends in state 'ending'"),
        ([*block(0, "text", "7")], "content_block_start in state 'before'"),
    ],
    ids=["no-delta", "index", "overlap", "no-stop", "no-start"],
)
def test_wrong_order_of_events(events: list[dict[str, Any]], expected: str) -> None:
    assert any(expected in found for found in messages.order(stream(*events)))


def test_pings_may_stand_anywhere() -> None:
    assert list(messages.order(stream(START, {"type": "ping"}, *block(0, "text", "7"), END, STOP))) == []


def test_round_trip_of_tokens() -> None:
    there = exchange({"tokens": [1, 2], "count": 2}, request={"prompt": "é"}, name="texts/a")
    assert round_trip([there], [exchange({"prompt": "é"})]).holds
    assert round_trip([there], [exchange({"prompt": "e\u0301"})]).holds
    assert "came back as '?'" in round_trip([there], [exchange({"prompt": "?"})]).found
    assert "HTTP 404" in round_trip([there], [exchange(b"no", status=404)]).found
    miscounted = exchange({"tokens": [1, 2], "count": 3}, request={"prompt": "é"})
    assert "count is 3 for 2 tokens" in round_trip([miscounted], [exchange({"prompt": "é"})]).found


METRICS = """# TYPE vllm:prompt_tokens counter
vllm:prompt_tokens_total{engine="0"} 90.0
vllm:prompt_tokens_total{engine="1"} 10.0
# TYPE vllm:request_success counter
vllm:request_success_total{finished_reason="stop"} 2.0
vllm:request_success_total{finished_reason="length"} 1.0
"""


def test_counters_are_summed_over_engines_and_reasons() -> None:
    sums = parse_metrics(METRICS)
    assert sums["vllm:prompt_tokens_total"] == 100
    assert sums["vllm:request_success_total"] == 3


def test_something_else_than_metrics_is_refused() -> None:
    with pytest.raises(ServerError, match="exposition format"):
        parse_metrics("<html>not found</html>")


def test_work_of_answers_and_its_difference() -> None:
    assert work_of([whole(), whole()]) == Work(44, 10, 2)
    assert Work(44, 10, 2) - Work(22, 5, 1) == Work(22, 5, 1)


def test_what_a_server_is() -> None:
    models = exchange({"data": [{"id": "tiny", "root": "/model", "max_model_len": 4096}]})
    assert [(model.id, model.root, model.max_model_len) for model in served_models(models)] == [
        ("tiny", "/model", 4096)
    ]
    assert served_models(exchange(b"no")) == ()
    assert version_of(exchange({"version": "0.17.1.dev3+gabc"})) == (0, 17, 1)
    assert version_of(exchange({"version": "main"})) is None


def test_routes_depend_on_the_release() -> None:
    assert Route("post", "/v1/messages", since=(0, 11, 1)) not in required_routes(parse_version("0.10"))
    assert Route("post", "/v1/messages", since=(0, 11, 1)) in required_routes(parse_version("v0.32.0"))
    described: dict[str, Any] = {"paths": {route.path: {route.method: {}} for route in required_routes((0, 32, 0))}}
    assert missing_routes(exchange(described), (0, 32, 0)) == ()
    del described["paths"]["/tokenize"]
    assert list(map(str, missing_routes(exchange(json.loads(json.dumps(described))), (0, 32, 0)))) == ["POST /tokenize"]
