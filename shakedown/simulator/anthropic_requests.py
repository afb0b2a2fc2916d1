"""``/v1/messages`` bodies and their translation into chat requests (vllm/entrypoints/anthropic)."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, ValidationError, model_validator

from shakedown.simulator.errors import invalid_request
from shakedown.simulator.requests import ChatRequest

_EFFORTS = Literal["low", "medium", "high", "xhigh", "max"]


class Block(BaseModel):
    """A content block of any type."""

    type: Literal["text", "image", "tool_use", "tool_result", "thinking", "redacted_thinking"]
    text: str | None = None
    id: str | None = None
    tool_use_id: str | None = None
    name: str | None = None
    input: dict[str, Any] | None = None
    content: str | list[dict[str, Any]] | None = None
    thinking: str | None = None
    signature: str | None = None


class Turn(BaseModel):
    """One message."""

    role: Literal["user", "assistant", "system"]
    content: str | list[Block]


class ToolDefinition(BaseModel):
    """One tool."""

    name: str
    description: str | None = None
    input_schema: dict[str, Any]
    strict: bool | None = None


class ToolChoice(BaseModel):
    """Which tool, if any."""

    type: Literal["auto", "any", "tool", "none"]
    name: str | None = None
    disable_parallel_tool_use: bool | None = None

    @model_validator(mode="after")
    def _named(self) -> ToolChoice:
        if self.type == "tool" and not self.name:
            raise ValueError("tool_choice.name is required when type is 'tool'")
        return self


class ThinkingEnabled(BaseModel):
    """Thinking up to a number of tokens."""

    type: Literal["enabled"]
    budget_tokens: int = Field(ge=1024)


class ThinkingDisabled(BaseModel):
    """No thinking."""

    type: Literal["disabled"]


class ThinkingAdaptive(BaseModel):
    """As much thinking as the model likes."""

    type: Literal["adaptive"]


class OutputFormat(BaseModel):
    """A schema for the answer."""

    type: Literal["json_schema"] = "json_schema"
    json_schema: dict[str, Any] | None = Field(default=None, alias="schema")


class OutputConfig(BaseModel):
    """Effort and format."""

    effort: _EFFORTS | None = None
    format: OutputFormat | None = None


Thinking = Annotated[ThinkingEnabled | ThinkingDisabled | ThinkingAdaptive, Field(discriminator="type")]


class CountRequest(BaseModel):
    """``POST /v1/messages/count_tokens``, and what ``/v1/messages`` has in common with it."""

    model: Annotated[str, Field(min_length=1)]
    messages: list[Turn]
    output_config: OutputConfig | None = None
    system: str | list[Block] | None = None
    thinking: Thinking | None = None
    tool_choice: ToolChoice | None = None
    tools: list[ToolDefinition] | None = None
    chat_template_kwargs: dict[str, Any] | None = None


class MessagesRequest(CountRequest):
    """``POST /v1/messages``."""

    max_tokens: Annotated[int, Field(gt=0)]
    stop_sequences: Annotated[list[str], Field(max_length=4)] | None = None
    stream: bool | None = False
    temperature: float | None = None
    top_k: int | None = None
    top_p: float | None = None

    @model_validator(mode="after")
    def _budget_fits(self) -> MessagesRequest:
        if isinstance(self.thinking, ThinkingEnabled) and self.thinking.budget_tokens >= self.max_tokens:
            raise ValueError("thinking.budget_tokens must be less than max_tokens")
        return self


def to_chat(request: CountRequest) -> ChatRequest:
    """The chat request that asks for the same.

    Raises:
        ApiError: 400, it does not validate as one.
    """
    chat: dict[str, Any] = {
        "model": request.model,
        "messages": [*_system(request.system), *(message for turn in request.messages for message in _messages(turn))],
        "chat_template_kwargs": request.chat_template_kwargs,
    }
    if isinstance(request, MessagesRequest):
        chat |= request.model_dump(include={"temperature", "top_k", "top_p"})
        chat |= {"max_tokens": request.max_tokens, "max_completion_tokens": request.max_tokens}
        chat["stop"] = request.stop_sequences
        if request.stream:
            chat |= {"stream": True, "stream_options": {"include_usage": True, "continuous_usage_stats": True}}
    chat |= _tools(request) | _effort(request)
    try:
        return ChatRequest.model_validate(chat)
    except ValidationError as error:
        raise invalid_request(error) from error


def _system(system: str | list[Block] | None) -> list[dict[str, Any]]:
    text = system if isinstance(system, str) else "".join(block.text or "" for block in system or [])
    return [{"role": "system", "content": text}] if text else []


def _messages(turn: Turn) -> list[dict[str, Any]]:
    """A turn with results of tools becomes several messages, the results first."""
    if isinstance(turn.content, str):
        return [{"role": turn.role, "content": turn.content}]
    results = [
        {"role": "tool", "tool_call_id": block.tool_use_id or "", "content": _result_text(block)}
        for block in turn.content
        if block.type == "tool_result"
    ]
    message: dict[str, Any] = {"role": turn.role}
    texts = [block.text for block in turn.content if block.type == "text" and block.text]
    if texts:
        message["content"] = "\n".join(texts)
    reasoning = "".join(block.thinking or "" for block in turn.content if block.type == "thinking")
    if reasoning:
        message["reasoning"] = reasoning
    calls = [_call(block) for block in turn.content if block.type == "tool_use"]
    if calls:
        message["tool_calls"] = calls
    silent_user = turn.role == "user" and "content" not in message
    return results if silent_user else [*results, message]


def _call(block: Block) -> dict[str, Any]:
    arguments = json.dumps(block.input or {})
    return {"id": block.id or "", "type": "function", "function": {"name": block.name or "", "arguments": arguments}}


def _result_text(block: Block) -> str:
    if isinstance(block.content, str):
        return block.content
    return "\n".join(str(part.get("text", "")) for part in block.content or [] if part.get("type") == "text")


def _tools(request: CountRequest) -> dict[str, Any]:
    if not request.tools:
        return {}
    tools = [
        {
            "type": "function",
            "function": {
                "name": tool.name,
                "description": tool.description,
                "parameters": {"type": "object", **tool.input_schema},
                "strict": tool.strict,
            },
        }
        for tool in request.tools
    ]
    choice = request.tool_choice
    if choice is None:
        return {"tools": tools, "tool_choice": "auto"}
    named = {"type": "function", "function": {"name": choice.name}}
    wanted = {"auto": "auto", "any": "required", "none": "none", "tool": named}[choice.type]
    return {"tools": tools, "tool_choice": wanted, "parallel_tool_calls": not choice.disable_parallel_tool_use}


def _effort(request: CountRequest) -> dict[str, Any]:
    result: dict[str, Any] = {}
    if request.output_config and request.output_config.format and request.output_config.format.json_schema:
        schema = {"name": "json_schema", "schema": request.output_config.format.json_schema}
        result["response_format"] = {"type": "json_schema", "json_schema": schema}
    if request.output_config and request.output_config.effort:
        result["reasoning_effort"] = request.output_config.effort
    if isinstance(request.thinking, ThinkingDisabled):
        result["reasoning_effort"] = "none"
    if isinstance(request.thinking, ThinkingEnabled):
        result["thinking_token_budget"] = request.thinking.budget_tokens
    return result
