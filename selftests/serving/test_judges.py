"""Every judge is silent on a right response and names what is wrong in each wrong one."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from selftests.serving.examples import (
    DONE,
    END,
    ROLE,
    TOTAL,
    USAGE,
    call,
    chat_body,
    chunk,
    deltas,
    exchange,
    streamed,
    whole,
)
from shakedown.serving.answer import Answer
from shakedown.serving.exchange import Failure
from shakedown.serving.judges import framing, numbers, reasoning, schema, structured, tools
from shakedown.serving.judges.isolation import own_nonce_only, repeats_own
from shakedown.serving.judges.refusals import refusal_problems
from shakedown.serving.judges.verdict import judge, judge_complete

Rule = Callable[[Answer], Iterator[str]]
NO_THINKING = {"chat_template_kwargs": {"enable_thinking": False}}
WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}
TOOLS = {"tools": [WEATHER]}
BOUND = {
    "response_format": {
        "type": "json_schema",
        "json_schema": {
            "schema": {
                "type": "object",
                "required": ["word"],
                "additionalProperties": False,
                "properties": {"word": {"type": "string"}},
            }
        },
    }
}


def body(**changes: Any) -> Answer:
    return Answer(exchange(chat_body({"content": "803"}, **changes)))


def entry(logprob: Any, **more: Any) -> dict[str, Any]:
    return {"token": "8", "logprob": logprob, "bytes": [56], "top_logprobs": [], **more}


def with_logprobs(*entries: dict[str, Any]) -> Answer:
    choice = {**chat_body({"content": "8"})["choices"][0], "logprobs": {"content": list(entries)}}
    return Answer(exchange(chat_body({}, choices=[choice]), request={"logprobs": True}))


def pieces(*functions: dict[str, Any], id: str = "call-1") -> Answer:
    first, *rest = functions
    parts = [{"tool_calls": [{"index": 0, "id": id, "type": "function", "function": first}]}]
    parts += [{"tool_calls": [{"index": 0, "function": function}]} for function in rest]
    return streamed(ROLE, *map(chunk, parts), chunk({}, "tool_calls"), TOTAL, DONE, request=TOOLS)


RIGHT: dict[str, tuple[Rule, Answer]] = {
    "body": (schema.body_shape, whole()),
    "events": (framing.events, deltas({"content": "8"})),
    "finish": (framing.finish, deltas({"content": "8"})),
    "finish-on-content": (framing.finish, streamed(ROLE, chunk({"content": "8"}, "stop"), TOTAL, DONE)),
    "identity": (framing.identity, deltas({"content": "8"})),
    "usage": (framing.usage, deltas({"content": "8"})),
    "usage-not-asked": (framing.usage, streamed(ROLE, END, DONE, request={"stream_options": {}})),
    "errors": (framing.errors, deltas({"content": "8"})),
    "phases": (framing.phases, deltas({"reasoning": "a"}, {"content": "\n"}, {"content": "8"})),
    "phases-space": (framing.phases, deltas({"content": "\n\n"}, {"reasoning": "a"}, {"content": "8"})),
    "present": (reasoning.present, whole("\n\n803", reasoning="\n417 + 386\n")),
    "present-old-name": (reasoning.present, deltas({"reasoning_content": "a"}, {"content": "8"})),
    "absent": (reasoning.absent, whole(request=NO_THINKING)),
    "free": (reasoning.free, whole('{"word": "a"}', reasoning="417 + 386")),
    "truncated": (
        reasoning.truncated,
        whole(None, reasoning="417", finish="length", request={"max_tokens": USAGE["completion_tokens"]}),
    ),
    "markers": (reasoning.markers, whole("a < b", reasoning="c")),
    "markers-asked": (reasoning.markers, whole("</think>", request={"messages": [{"content": "say </think>"}]})),
    "valid": (tools.valid, whole(None, tool_calls=[call("get_weather", '{"city": "Oslo"}')], request=TOOLS)),
    "streamed": (tools.streamed, pieces({"name": "get_weather"}, {"arguments": '{"city": '}, {"arguments": '"a"}'})),
    "called": (tools.finish, whole(None, tool_calls=[call("a", "{}")], finish="tool_calls")),
    "named-stop": (
        tools.finish,
        whole("", tool_calls=[call("a", "{}")], request={"tool_choice": {"type": "function"}}),
    ),
    "conforms": (structured.conforms, whole('{"word": "a"}', request=BOUND)),
    "finite": (numbers.finite, with_logprobs(entry(-0.1), entry(1.2e-7, top_logprobs=[entry(-9999.0)]))),
}

WRONG: dict[str, tuple[Rule, Answer, str]] = {
    "no-json": (schema.body_shape, Answer(exchange(b"<html>")), "not a JSON object"),
    "id": (schema.body_shape, body(id="x"), "id is 'x'"),
    "object": (schema.body_shape, body(object="chat"), "object is 'chat'"),
    "clock": (schema.body_shape, body(created=1), "more than 300 s"),
    "created": (schema.body_shape, body(created=None), "created is None"),
    "model": (schema.body_shape, body(model="other"), "model is 'other'"),
    "index": (schema.body_shape, body(choices=[]), "indexes []"),
    "null-finish": (schema.body_shape, whole(finish=None), "finish_reason is None"),
    "no-usage": (schema.body_shape, body(usage=None), "usage is None"),
    "total": (schema.body_shape, body(usage={**USAGE, "total_tokens": 28}), "total 28"),
    "no-done": (framing.events, streamed(ROLE, END, TOTAL), "0 × [DONE]"),
    "two-done": (framing.events, streamed(ROLE, END, DONE, DONE), "2 × [DONE]"),
    "early-done": (framing.events, streamed(ROLE, DONE, END), "expected one, as the last"),
    "half-event": (framing.events, streamed(ROLE, '{"id":', END, TOTAL, DONE), "no JSON object"),
    "plain": (framing.events, Answer(exchange(b"data: [DONE]\n\n", request={"stream": True})), "content-type"),
    "cut": (
        framing.events,
        Answer(
            exchange(b"data: {}\n\ndata: [DO", request={"stream": True}, headers={"content-type": "text/event-stream"})
        ),
        "middle of an event",
    ),
    "no-finish": (framing.finish, streamed(ROLE, TOTAL, DONE), "0 finish reasons"),
    "two-finish": (framing.finish, streamed(ROLE, END, END, TOTAL, DONE), "2 finish reasons"),
    "after-finish": (framing.finish, streamed(ROLE, END, chunk({"content": "x"}), DONE), "after the finish reason"),
    "no-role": (framing.identity, streamed(chunk({"content": "8"}), END, TOTAL, DONE), "no role"),
    "two-ids": (framing.identity, streamed(ROLE, {**END, "id": "chatcmpl-2"}, TOTAL, DONE), "id takes 2 values"),
    "no-usage-chunk": (framing.usage, streamed(ROLE, END, DONE), "0 chunks with usage"),
    "early-usage": (framing.usage, streamed(ROLE, TOTAL, END, DONE), "not the last"),
    "usage-not-asked": (framing.usage, streamed(ROLE, TOTAL, DONE, request={"stream_options": {}}), "not asked for"),
    "null-usage": (
        framing.usage,
        streamed(ROLE, END, chunk(None, usage={**USAGE, "prompt_tokens": None}), DONE),
        "usage counts",
    ),
    "error": (framing.errors, streamed(ROLE, {"error": {"message": "boom"}}, DONE), "boom"),
    "back-to-thinking": (framing.phases, deltas({"content": "8"}, {"reasoning": "a"}), "reasoning after content"),
    "parser-off": (reasoning.present, whole("<think>a</think>8"), "no reasoning"),
    "swallowed": (reasoning.present, whole(None, reasoning="a</think>8"), "no content"),
    "still-on": (reasoning.absent, whole(reasoning="a", request=NO_THINKING), "though it is off"),
    "misrouted": (reasoning.absent, deltas({"reasoning": "803"}, request=NO_THINKING), "though it is off"),
    "silent": (reasoning.absent, whole(None, request=NO_THINKING), "neither content nor a call"),
    "half-thought": (
        reasoning.truncated,
        whole("417", finish="length", request={"max_tokens": USAGE["completion_tokens"]}),
        "no reasoning",
    ),
    "not-cut": (reasoning.truncated, whole(None, reasoning="a", request={"max_tokens": 5}), "expected length"),
    "miscounted": (
        reasoning.truncated,
        whole(None, reasoning="a", finish="length", request={"max_tokens": 16}),
        "is 5",
    ),
    "json-thought": (reasoning.free, whole("{}", reasoning='{"word": "a"}'), "is JSON"),
    "end-tag": (reasoning.markers, whole("</think>\n803", reasoning="a"), "</think> in content"),
    "role": (reasoning.markers, deltas({"reasoning": "a<|im_"}, {"reasoning": "end|>"}), "<|im_end|> in reasoning"),
    "no-call": (tools.valid, whole("Sunny.", request=TOOLS), "no call"),
    "unknown": (tools.valid, whole(None, tool_calls=[call("x", "{}")], request=TOOLS), "unknown name"),
    "broken": (tools.valid, whole(None, tool_calls=[call("get_weather", "{")], request=TOOLS), "no JSON"),
    "mismatch": (tools.valid, whole(None, tool_calls=[call("get_weather", "{}")], request=TOOLS), "against the schema"),
    "brace": (tools.streamed, pieces({"name": "get_weather"}, {"arguments": '"city": "a"}'}), "no JSON"),
    "name-twice": (
        tools.streamed,
        pieces({"name": "get_"}, {"name": "weather"}, {"arguments": '{"city": "a"}'}),
        "name of call 0 stands in 2 deltas",
    ),
    "no-id": (tools.streamed, pieces({"name": "get_weather"}, {"arguments": '{"city": ""}'}, id=""), "0 deltas"),
    "required-silent": (
        tools.required,
        whole(None, tool_calls=[call("get_weather", '{"city": "a"}')], request=TOOLS),
        "no reasoning",
    ),
    "reason-alone": (tools.finish, whole("a", finish="tool_calls"), "without a call"),
    "call-alone": (tools.finish, whole(None, tool_calls=[call("a", "{}")]), "finish is stop"),
    "prose": (structured.conforms, whole("Kettle", request=BOUND), "no JSON"),
    "other-object": (structured.conforms, whole('{"name": "a"}', request=BOUND), "against the schema"),
    "endless": (structured.conforms, whole('{"word":   ', finish="length", request=BOUND), "finish is length"),
    "nan": (numbers.finite, with_logprobs(entry(float("nan"))), "bare NaN"),
    "null": (numbers.finite, with_logprobs(entry(None)), "is None"),
    "positive": (numbers.finite, with_logprobs(entry(0.1)), "is 0.1"),
    "clamped": (numbers.finite, with_logprobs(entry(-9999.0)), "is -9999.0"),
    "null-top": (numbers.finite, with_logprobs(entry(-1.0, top_logprobs=[entry(None)])), "top_logprobs"),
    "none-at-all": (numbers.finite, whole(request={"logprobs": True}), "there are none"),
}


@pytest.mark.parametrize("name", RIGHT)
def test_judges_are_silent_on_what_is_right(name: str) -> None:
    rule, answer = RIGHT[name]
    assert list(rule(answer)) == []


@pytest.mark.parametrize("name", WRONG)
def test_judges_name_what_is_wrong(name: str) -> None:
    rule, answer, expected = WRONG[name]
    assert any(expected in found for found in rule(answer)), list(rule(answer))


def test_an_invariant_over_nothing_does_not_hold() -> None:
    verdict = judge([], reasoning.present)
    assert not verdict.holds
    assert verdict.found == "no response to judge"


def test_a_response_that_failed_is_a_violation_unless_only_complete_ones_are_asked() -> None:
    broken = Answer(exchange(b"", failure=Failure("timeout", "no complete answer within 1 s")))
    refused = Answer(exchange(b"boom", status=500))
    assert "timeout" in judge([broken], reasoning.present).found
    assert "HTTP 500: boom" in judge([refused], reasoning.present).found
    verdict = judge_complete([broken, refused, whole(reasoning="a")], reasoning.present)
    assert (verdict.judged, verdict.holds) == (1, True)


def test_a_verdict_counts_responses_and_shows_a_few() -> None:
    verdict = judge([Answer(exchange(b"x", status=500, name=f"a/{number}")) for number in range(9)], reasoning.present)
    assert verdict.found.splitlines()[0] == "9 of 9 responses:"
    assert verdict.found.splitlines()[-1] == "and 5 more"


def test_call_ids_are_compared_over_all_answers() -> None:
    calls = [call("a", "{}", id="call-1")]
    same = [whole(None, tool_calls=calls, name="g/1"), whole(None, tool_calls=calls, name="g/2")]
    assert list(tools.ids(same)) == [("g/2", "id call-1 was used by g/1 already")]
    assert list(tools.ids([whole(None, tool_calls=[call("a", "{}", id="")])])) == [("group/one", "call 0 has no id")]


def test_a_foreign_nonce_is_found_in_any_field() -> None:
    a = whole("abc123", about={"nonce": "abc123"}, name="n/a")
    b = whole("xyz789", reasoning="abc123", about={"nonce": "xyz789"}, name="n/b")
    verdict = own_nonce_only([a, b])
    assert [violation.name for violation in verdict.violations] == ["n/b"]
    assert "nonce of n/a" in verdict.found
    assert repeats_own(a)
    assert own_nonce_only([a]).holds


@pytest.mark.parametrize(
    ("status", "answer", "expected"),
    [
        (400, {"error": {"message": "maximum context length is 4096 tokens"}}, None),
        (400, {"error": {"message": "maximum context length is 4080 tokens"}}, "does not name the limit 4096"),
        (400, {"detail": "no"}, "no error.message"),
        (500, {"error": {"message": "4096"}}, "HTTP 500, expected 400"),
        (200, chat_body({"content": "1"}), "HTTP 200"),
    ],
    ids=["right", "other-limit", "no-message", "server-error", "accepted"],
)
def test_refusals(status: int, answer: dict[str, Any], expected: str | None) -> None:
    problems = list(refusal_problems(exchange(answer, status=status), limit=4096))
    assert bool(problems) == (expected is not None)
    assert expected is None or expected in problems[0]


def test_a_refusal_that_takes_its_time_is_told() -> None:
    slow = exchange({"error": {"message": "4096"}}, status=400, elapsed_s=11.0)
    assert list(refusal_problems(slow, limit=4096)) == ["refused only after 11.0 s"]
    assert json.loads(slow.to_json())["elapsed_s"] == 11.0
