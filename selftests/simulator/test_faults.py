"""Every fault differs from the healthy server exactly where its name says, and nowhere else."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest
import pytest_asyncio

from selftests.simulator.battery import REQUESTS, observe
from selftests.simulator.talk import CHAT, UNKNOWN, events_of, inside, joined
from shakedown.simulator.faults.registry import FAULTS, fault_named
from shakedown.simulator.settings import Settings, Timing

CHAT_STREAMS = {name for name in REQUESTS if name.endswith("stream") and name != "message stream"}
CHAT_WHOLE = {
    "thinking",
    "plain",
    "cut off",
    "tool",
    "tool required",
    "schema",
    "schema thinking",
    "schema against prompt",
    "logprobs",
    "computed",
}
MESSAGES = {"message", "message stream"}
WITH_USAGE = CHAT_STREAMS - {"logprobs stream"}
THOUGHT = {"thinking", "thinking stream", "tool thinking stream", "schema thinking", "computed"}
PLAIN = {"plain", "plain stream", "tool", "tool stream", "schema", "schema against prompt"} | {
    "logprobs",
    "logprobs stream",
}
CALLS = {"tool", "tool stream", "tool thinking stream", "tool required"}

CHANGES: dict[str, set[str]] = {
    "wrong-model-id": {"models"},
    "short-max-model-len": {"models", "tokenize", "tokenize off", "oversize"},
    "tokenizer-mangles-unicode": {"detokenize"},
    "route-missing": {"completion", "routes"},
    "health-without-engine": CHAT_STREAMS
    | CHAT_WHOLE
    | MESSAGES
    | {"completion", "metrics", "after oversize", "crowd nonces", "ids of a stream", "ids of calls"},
    "wrong-answers": {"computed"},
    "exclamation-marks": {"computed"},
    "schema-ignored": {"schema", "schema thinking", "schema against prompt"},
    "schema-not-enforced": {"schema against prompt", "schema thinking"},  # a grammar leaves no line break before JSON
    "swapped-nonce": {"crowd nonces"},
    "nan-logprobs": {"logprobs", "logprobs stream"},
    "reasoning-in-content": CHAT_WHOLE | WITH_USAGE | MESSAGES,
    "leaked-end-tag": THOUGHT | MESSAGES,
    "reasoning-missing-in-stream": {"thinking stream", "cut off stream", "tool thinking stream"},
    "thinking-not-off": PLAIN | {"tokenize off"},
    "stream-answer-as-reasoning": {"plain stream", "logprobs stream"},
    "truncated-thinking-as-content": {"cut off"},
    "wrong-after-thinking": {"computed"},
    "schema-binds-thinking": {"schema thinking"},
    "missing-done": CHAT_STREAMS,
    "malformed-event": CHAT_STREAMS | {"ids of a stream"},
    "stream-null-finish-reason": CHAT_STREAMS,
    "stream-usage-missing": WITH_USAGE,
    "changing-id": {"ids of a stream"},
    "error-in-stream": CHAT_STREAMS | {"crowd errors"},
    "reasoning-after-content": {"thinking stream", "tool thinking stream"},
    "early-empty-chunk": CHAT_STREAMS,
    "usage-total-wrong": CHAT_WHOLE | WITH_USAGE,
    "prompt-tokens-wrong": CHAT_WHOLE | WITH_USAGE,
    "null-finish-reason": CHAT_WHOLE,
    "metrics-undercount": {"metrics"},
    "tool-call-in-content": {"tool stream"},
    "tool-arguments-lose-brace": {"tool stream", "tool thinking stream"},
    "tool-finish-reason-stop": CALLS,
    "wrong-tool-parser": CALLS | {"ids of calls"},
    "required-call-loses-reasoning": {"tool required"},
    "same-call-id": {"ids of calls"},
    "oversize-500": {"oversize"},
    "dies-after-oversize": {"after oversize"},
    "wrong-oversize-limit": {"oversize"},
    "count-tokens-differs": {"count"},
    "messages-usage-differs": MESSAGES,
    "messages-thinking-lost": MESSAGES,
    "messages-finish-reason": {"message"},
    "message-blocks-overlap": {"message stream"},
    "slow-first-token": set(),
    "slow-decode": set(),
    "requests-lost": set(),
    "errors-under-load": {"crowd errors"},
    "stall-under-concurrency": {"crowd stands still"},
    "one-at-a-time": set(),
    "late-end": set(),
}
"""By fault, what it changes of what a server says; those without anything change settings or times, which have tests of
their own."""

Seen = dict[str, Any]


def message(seen: Seen, name: str) -> dict[str, Any]:
    choice = json.loads(seen[name][1])["choices"][0]
    return {**choice["message"], "finish_reason": choice["finish_reason"]}


def stream(seen: Seen, name: str) -> list[Any]:
    return events_of(seen[name][1])


SHOWS: dict[str, Callable[[Seen], bool]] = {
    "wrong-model-id": lambda seen: '"id":"shakedown-tiny-preview"' in seen["models"],
    "short-max-model-len": lambda seen: '"max_model_len":2048' in seen["models"],
    "tokenizer-mangles-unicode": lambda seen: seen["detokenize"]["prompt"] == "naïve �� �",
    "route-missing": lambda seen: seen["completion"][0] == 404,
    "health-without-engine": lambda seen: seen["thinking"][0] == 500 and seen["after oversize"] == (500, 200),
    "exclamation-marks": lambda seen: any("!!!!!!!!" in text for text in seen["computed"]),
    "schema-ignored": lambda seen: "```json" in message(seen, "schema")["content"],
    "swapped-nonce": lambda seen: seen["crowd nonces"] == [False, False],
    "nan-logprobs": lambda seen: (
        '"logprob":NaN' in seen["logprobs"][1] and '"logprob":null' in seen["logprobs stream"][1]
    ),
    "reasoning-in-content": lambda seen: message(seen, "thinking")["content"].startswith(
        "One word, as it stands.\n</think>"
    ),
    "leaked-end-tag": lambda seen: message(seen, "thinking")["content"].startswith("</think>"),
    "reasoning-missing-in-stream": lambda seen: joined(stream(seen, "thinking stream"), "reasoning") == "",
    "thinking-not-off": lambda seen: bool(message(seen, "plain")["reasoning"]),
    "stream-answer-as-reasoning": lambda seen: joined(stream(seen, "plain stream"), "reasoning") == "Lemon",
    "truncated-thinking-as-content": lambda seen: message(seen, "cut off")["content"] is not None,
    "missing-done": lambda seen: "[DONE]" not in stream(seen, "plain stream"),
    "malformed-event": lambda seen: '{"id":"chatcmpl-' in stream(seen, "plain stream"),
    "stream-null-finish-reason": lambda seen: '"finish_reason":"' not in seen["plain stream"][1],
    "stream-usage-missing": lambda seen: '"usage"' not in seen["plain stream"][1],
    "early-empty-chunk": lambda seen: stream(seen, "plain stream")[1]["choices"][0]["delta"] == {"content": ""},
    "null-finish-reason": lambda seen: message(seen, "plain")["finish_reason"] is None,
    "tool-call-in-content": lambda seen: joined(stream(seen, "tool stream"), "content").startswith("<tool_call>"),
    "tool-finish-reason-stop": lambda seen: message(seen, "tool")["finish_reason"] == "stop",
    "oversize-500": lambda seen: seen["oversize"][0] == 500,
    "dies-after-oversize": lambda seen: seen["after oversize"] == (500, 503),
    "wrong-oversize-limit": lambda seen: "length is 4080 tokens" in seen["oversize"][1]["message"],
    "errors-under-load": lambda seen: seen["crowd errors"] == 1,
}
"""By fault, how it shows: the name must not only change something, it must change it in its own way."""


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def healthy() -> Seen:
    return await observe(None)


async def test_a_healthy_server_says_the_same_again(healthy: Seen) -> None:
    assert await observe(None) == healthy
    assert healthy["crowd nonces"] == [True, True]
    assert healthy["crowd errors"] == 0
    assert all(REQUESTS[name] and healthy[name][0] == 200 for name in REQUESTS)


def test_every_fault_declares_what_it_changes() -> None:
    assert set(CHANGES) == set(FAULTS)
    assert set(SHOWS) <= set(FAULTS)


@pytest.mark.parametrize("name", FAULTS)
async def test_a_fault_changes_what_it_declares_and_nothing_else(name: str, healthy: Seen) -> None:
    seen = await observe(name)
    assert {part for part in healthy if seen[part] != healthy[part]} == CHANGES[name]
    if name in SHOWS:
        assert SHOWS[name](seen)
        assert not SHOWS[name](healthy)


async def test_three_answers_in_ten_are_wrong(healthy: Seen) -> None:
    seen = await observe("wrong-answers")
    wrong = [text for text, right in zip(seen["computed"], healthy["computed"], strict=True) if text != right]
    assert 1 <= len(wrong) <= len(healthy["computed"]) / 2


async def test_one_request_in_thirty_is_lost_in_company() -> None:
    async with inside("requests-lost", timing=Timing(0.2, 0.0)) as client:
        alone = [(await client.post(CHAT, json=UNKNOWN)).status_code for _ in range(2)]
        crowd = await asyncio.gather(*(client.post(CHAT, json=UNKNOWN) for _ in range(40)))
    assert alone == [200, 200]
    assert [response.status_code for response in crowd].count(500) == 1


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("slow-first-token", Settings(timing=Timing(0.12, 0.002))),
        ("slow-decode", Settings(timing=Timing(0.03, 0.008))),
        ("one-at-a-time", Settings(max_concurrency=1)),
    ],
)
def test_faults_of_speed_change_one_setting(name: str, settings: Settings) -> None:
    assert fault_named(name).configure(Settings()) == settings


@pytest.mark.parametrize("fault", FAULTS.values(), ids=list(FAULTS))
def test_a_fault_says_what_it_is(fault: type[Any]) -> None:
    assert fault.summary
    assert fault.__doc__
    assert fault.source == "" or "#" in fault.source
