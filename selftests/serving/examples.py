"""Responses in the wire format of vLLM, made by hand for the tests of judges: right by default, wrong on purpose."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from shakedown.serving.answer import Answer
from shakedown.serving.exchange import Arrival, Exchange, Failure, Request

SENT_AT = "2026-01-02T03:04:05.000+00:00"
CREATED = 1767323045
MODEL = "tiny"
USAGE = {"prompt_tokens": 22, "completion_tokens": 5, "total_tokens": 27}


def exchange(
    body: bytes | Mapping[str, Any],
    *,
    request: Mapping[str, Any] | None = None,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
    about: Mapping[str, Any] | None = None,
    failure: Failure | None = None,
    name: str = "group/one",
    elapsed_s: float = 0.2,
) -> Exchange:
    """An exchange with that body."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return Exchange(
        name=name,
        request=Request("POST", "/v1/chat/completions", {"model": MODEL, **(request or {})}, about=about or {}),
        sent_at=SENT_AT,
        status=status,
        headers=headers or {"content-type": "application/json"},
        arrivals=(Arrival(0.1, data),),
        elapsed_s=elapsed_s,
        failure=failure,
    )


def chat_body(message: Mapping[str, Any], finish: str | None = "stop", **changes: Any) -> dict[str, Any]:
    """A body of /v1/chat/completions."""
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish, "logprobs": None}
    body = {"id": "chatcmpl-1", "object": "chat.completion", "created": CREATED, "model": MODEL}
    return {**body, "choices": [choice], "usage": USAGE, **changes}


def whole(
    content: str | None = "803",
    *,
    reasoning: str | None = None,
    tool_calls: Sequence[Mapping[str, Any]] = (),
    finish: str | None = "stop",
    request: Mapping[str, Any] | None = None,
    **rest: Any,
) -> Answer:
    """An answer that was not streamed."""
    message = {"content": content, "reasoning": reasoning, "tool_calls": list(tool_calls)}
    return Answer(exchange(chat_body(message, finish), request=request, **rest))


def call(name: str, arguments: str, id: str = "call-1") -> dict[str, Any]:
    """A tool call of a message."""
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


def chunk(delta: Mapping[str, Any] | None, finish: str | None = None, **changes: Any) -> dict[str, Any]:
    """One chunk; without a delta it has no choice."""
    choices = [] if delta is None else [{"index": 0, "delta": delta, "finish_reason": finish}]
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": CREATED, "model": MODEL}
    return {**head, "choices": choices, **changes}


ROLE = chunk({"role": "assistant", "content": ""})
END = chunk({}, "stop")
TOTAL = chunk(None, usage=USAGE)
DONE = "[DONE]"


def lines(*events: Mapping[str, Any] | str) -> bytes:
    """Events as the server writes them."""
    texts = (event if isinstance(event, str) else json.dumps(event) for event in events)
    return "".join(f"data: {text}\n\n" for text in texts).encode()


def streamed(*events: Mapping[str, Any] | str, request: Mapping[str, Any] | None = None, **rest: Any) -> Answer:
    """A streamed answer of exactly these events."""
    asked = {"stream": True, "stream_options": {"include_usage": True}, **(request or {})}
    headers = {"content-type": "text/event-stream; charset=utf-8"}
    return Answer(exchange(lines(*events), request=asked, headers=headers, **rest))


def deltas(*parts: Mapping[str, Any], **rest: Any) -> Answer:
    """A streamed answer, well framed, with these deltas."""
    return streamed(ROLE, *map(chunk, parts), END, TOTAL, DONE, **rest)
