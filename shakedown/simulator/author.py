"""What the served model would say: the task pool's own solution, held to the constraints of the request."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any

from shakedown.serving.tasks import Answer, ToolCall, recognise
from shakedown.simulator.constrain import constraint_of, instance
from shakedown.simulator.fault import Fault
from shakedown.simulator.requests import ChatRequest

_UNKNOWN = Answer(
    thinking="This is not one of the exercises that I know.",
    content="I am a simulator and know the answers to the exercises of the suite only.",
)


@dataclass(frozen=True, slots=True)
class Written:
    """The answer to a request.

    Attributes:
        family: which family of tasks the prompt is of, if any.
        held: whether a grammar held the answer, so that not even a line break stands before it.
    """

    answer: Answer
    family: str | None
    held: bool


def write(request: ChatRequest, fault: Fault) -> Written:
    """The answer to a chat request, before anything is cut off.

    Raises:
        ApiError: 400, a constraint makes no sense.
    """
    tools = request.rendered_tools or []
    family, answer = recognise(request.messages, tools) or (None, _UNKNOWN)
    constraint = constraint_of(request)
    held = constraint is not None and not fault.ignores_schema()
    answer = fault.answer(answer, family, constrained=constraint is not None)
    if request.tool_choice == "none" and answer.tool_calls:
        answer = replace(answer, tool_calls=(), content="I may not use the tools here.")
    forced = request.named_tool is not None or request.tool_choice == "required"
    if forced:
        answer = _with_call(answer, request.named_tool, tools)
    elif held and constraint is not None and not answer.tool_calls:
        answer = replace(answer, content=constraint.fit(answer.content))
    if request.parallel_tool_calls is False:
        answer = replace(answer, tool_calls=answer.tool_calls[:1])
    return Written(answer, family, held or forced)


def _with_call(answer: Answer, name: str | None, tools: list[dict[str, Any]]) -> Answer:
    """The answer as a call: the natural one if it is of the function that must be called."""
    calls = tuple(call for call in answer.tool_calls if name in (None, call.name))
    if not calls:
        function = next(tool["function"] for tool in tools if name in (None, tool["function"]["name"]))
        schema = {"type": "object", **(function["parameters"] or {})}
        arguments = json.dumps(instance(schema, schema), ensure_ascii=False)
        calls = (ToolCall(function["name"], arguments),)
    return replace(answer, content="", tool_calls=calls)


def spelled_out(answer: Answer) -> tuple[str, str]:
    """Reasoning and answer as the model generates them, the mark-up of calls included."""
    calls = "\n".join(
        f'<tool_call>\n{{"name": {json.dumps(call.name)}, "arguments": {call.arguments}}}\n</tool_call>'
        for call in answer.tool_calls
    )
    return answer.thinking, answer.content + calls
