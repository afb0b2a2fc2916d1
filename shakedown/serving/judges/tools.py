"""TC: tool calls, classed as a router would class them: no JSON, an unknown name, arguments against the schema."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import jsonschema

from shakedown.serving.answer import Answer, ToolCall, as_dict, as_list
from shakedown.serving.exchange import shortened
from shakedown.serving.judges.framing import repeated_names


def valid(answer: Answer) -> Iterator[str]:
    """There is a call, and each names a tool that was offered, with arguments of its schema."""
    if not answer.tool_calls:
        yield f"no call (finish {answer.finish}); content is {shortened(answer.content, 90)!r}"
    for call in answer.tool_calls:
        yield from call_problems(call, offered(answer))


def call_problems(call: ToolCall, tools: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """What is wrong with one call, given the parameters' schema by name of the tool."""
    if call.name not in tools:
        yield f"unknown name {call.name!r}, offered were {', '.join(tools)}"
        return
    try:
        arguments = json.loads(call.arguments)
    except ValueError:
        yield f"{call.name}: arguments are no JSON: {shortened(call.arguments, 90)!r}"
        return
    error = next(iter(jsonschema.Draft202012Validator(tools[call.name]).iter_errors(arguments)), None)
    if error is not None:
        yield f"{call.name}: arguments {shortened(call.arguments, 60)!r} against the schema: {shortened(error.message)}"


def required(answer: Answer) -> Iterator[str]:
    """TC-03: as :func:`valid`; where the request leaves thinking on, the call was thought about."""
    yield from valid(answer)
    if answer.thinking and not answer.reasoning.strip():
        yield "no reasoning, though thinking is on"


def streamed(answer: Answer) -> Iterator[str]:
    """TC-06: as :func:`valid`, from pieces; id and name of each call came once."""
    yield from valid(answer)
    yield from repeated_names(answer)


def finish(answer: Answer) -> Iterator[str]:
    """TC-14: ``tool_calls`` is the finish reason exactly where calls are, but for named and cut-off calls."""
    calls, reason = bool(answer.tool_calls), answer.finish
    if reason == "tool_calls" and not calls:
        yield f"finish is tool_calls without a call; content is {shortened(answer.content, 60)!r}"
    named = isinstance((answer.exchange.request.body or {}).get("tool_choice"), Mapping)
    if calls and reason != "tool_calls" and not named and reason != "length":
        yield f"{len(answer.tool_calls)} calls, and finish is {reason}"


def ids(answers: Sequence[Answer]) -> Iterator[tuple[str, str]]:
    """TC-18: call ids are there and never stand twice; yields (name of the response, what is wrong)."""
    seen: dict[str, str] = {}
    for answer in answers:
        for call in answer.tool_calls:
            if not call.id:
                yield answer.name, f"call {call.index} has no id"
            elif call.id in seen:
                yield answer.name, f"id {call.id} was used by {seen[call.id]} already"
            seen[call.id] = answer.name


def offered(answer: Answer) -> dict[str, Mapping[str, Any]]:
    """Schema of the parameters of every tool in the request, by name."""
    body = answer.exchange.request.body or {}
    functions = (as_dict(tool.get("function")) for tool in map(as_dict, as_list(body.get("tools"))))
    return {function["name"]: as_dict(function.get("parameters")) for function in functions}
