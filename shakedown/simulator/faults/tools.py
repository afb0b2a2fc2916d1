"""Tool calls that are made and do not arrive as such."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any

from shakedown.simulator.fault import Event, Fault
from shakedown.simulator.model import Model
from shakedown.simulator.parsing import OutputParser
from shakedown.simulator.paths import CHAT


class _CallsNeedThinking(OutputParser):
    def __init__(self, model: Model, *, thinking: bool, tools: bool) -> None:
        super().__init__(model, thinking=thinking, tools=tools and thinking)


class ToolCallInContent(Fault):
    """The streaming path reaches the tool parser only after reasoning has ended."""

    name = "tool-call-in-content"
    summary = "with thinking off, streamed tool calls arrive as text"
    source = "vllm-project/vllm#20611"

    def parser(self, parser: type[OutputParser], *, streamed: bool) -> type[OutputParser]:
        """In streams only."""
        return _CallsNeedThinking if streamed else parser


class ToolArgumentsLoseBrace(Fault):
    """The first piece of the arguments is taken for mark-up."""

    name = "tool-arguments-lose-brace"
    summary = "streamed tool arguments lack their opening brace"
    source = "vllm-project/vllm#35266"

    async def events(self, path: str, events: AsyncIterator[Event]) -> AsyncIterator[Event]:
        """Of every call."""
        begun: set[tuple[int, int]] = set()
        async for event in events:
            if path == CHAT and isinstance(event, Mapping):
                yield {**event, "choices": [_without_brace(choice, begun) for choice in event.get("choices", ())]}
            else:
                yield event


class ToolFinishReasonStop(Fault):
    """Clients that wait for ``tool_calls`` never run the tool."""

    name = "tool-finish-reason-stop"
    summary = "answers with tool calls end with finish_reason stop"
    source = "vllm-project/vllm#25054"

    def body(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """In whole answers."""
        return {**body, "choices": [_stopped(choice) for choice in body["choices"]]} if path == CHAT else body

    async def events(self, path: str, events: AsyncIterator[Event]) -> AsyncIterator[Event]:
        """In streams."""
        async for event in events:
            if path == CHAT and isinstance(event, Mapping):
                yield {**event, "choices": [_stopped(choice) for choice in event.get("choices", ())]}
            else:
                yield event


class WrongToolParser(Fault):
    """``--tool-call-parser`` names the parser of another model family."""

    name = "wrong-tool-parser"
    summary = "tool calls arrive as text, streamed or not"
    source = "vllm-project/vllm#47761"

    def parser(self, parser: type[OutputParser], *, streamed: bool) -> type[OutputParser]:
        """In both modes."""
        del parser, streamed
        return _NoCalls


class _NoCalls(OutputParser):
    def __init__(self, model: Model, *, thinking: bool, tools: bool) -> None:
        del tools
        super().__init__(model, thinking=thinking, tools=False)


class RequiredCallLosesReasoning(Fault):
    """The branch for calls that must be made forgets the other fields."""

    name = "required-call-loses-reasoning"
    summary = "whole answers under tool_choice required have no reasoning"
    source = "vllm-project/vllm#20663"

    def body(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """A call that had to be made stands beside empty content, one that was chosen beside null."""
        if path != CHAT:
            return body
        return {**body, "choices": [_unreasoned(choice) for choice in body["choices"]]}


class SameCallId(Fault):
    """Calls are numbered from zero in every answer."""

    name = "same-call-id"
    summary = "the first call of every answer has the same id"
    source = "sgl-project/sglang#6310"

    def body(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """In whole answers."""
        return (
            {**body, "choices": [_renumbered(choice, "message") for choice in body["choices"]]}
            if path == CHAT
            else body
        )

    async def events(self, path: str, events: AsyncIterator[Event]) -> AsyncIterator[Event]:
        """In streams."""
        async for event in events:
            if path == CHAT and isinstance(event, Mapping):
                yield {**event, "choices": [_renumbered(choice, "delta") for choice in event.get("choices", ())]}
            else:
                yield event


def _unreasoned(choice: dict[str, Any]) -> dict[str, Any]:
    message = choice["message"]
    if message.get("tool_calls") and message["content"] == "":
        message = {**message, "reasoning": None}
    return {**choice, "message": message}


def _renumbered(choice: dict[str, Any], key: str) -> dict[str, Any]:
    said = choice[key]
    calls = [
        {**call, "id": f"call_{call.get('index', index)}"} if call.get("id") else call
        for index, call in enumerate(said.get("tool_calls", ()))
    ]
    return {**choice, key: {**said, "tool_calls": calls}} if calls else choice


def _stopped(choice: dict[str, Any]) -> dict[str, Any]:
    return {**choice, "finish_reason": "stop"} if choice.get("finish_reason") == "tool_calls" else choice


def _without_brace(choice: dict[str, Any], begun: set[tuple[int, int]]) -> dict[str, Any]:
    calls = choice.get("delta", {}).get("tool_calls")
    if not calls:
        return choice
    changed = []
    for call in calls:
        key, function = (choice["index"], call["index"]), call["function"]
        if "arguments" in function and key not in begun:
            begun.add(key)
            call = {**call, "function": {**function, "arguments": function["arguments"].removeprefix("{")}}
        changed.append(call)
    return {**choice, "delta": {**choice["delta"], "tool_calls": changed}}
