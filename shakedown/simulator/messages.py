"""``/v1/messages``: the chat route's answers told as Anthropic blocks and events."""

from __future__ import annotations

import json
import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping
from typing import Any

from shakedown.simulator.paths import DONE

_Event = dict[str, Any]


def message_of(chat: Mapping[str, Any]) -> dict[str, Any]:
    """A chat body as a message."""
    choice = chat["choices"][0]
    message = choice["message"]
    blocks: list[dict[str, Any]] = []
    if message["reasoning"]:
        blocks.append({"type": "thinking", "thinking": message["reasoning"], "signature": uuid.uuid4().hex})
    if message["content"]:
        blocks.append({"type": "text", "text": message["content"]})
    for call in message.get("tool_calls", ()):
        function = call["function"]
        blocks.append(
            {"type": "tool_use", "id": call["id"], "name": function["name"], "input": json.loads(function["arguments"])}
        )
    reason, sequence = _stop_reason(
        choice["finish_reason"], choice["stop_reason"], called=bool(message.get("tool_calls"))
    )
    result = {
        "id": chat["id"],
        "type": "message",
        "role": "assistant",
        "content": blocks or [{"type": "text", "text": ""}],
        "model": chat["model"],
        "stop_reason": reason,
        "stop_sequence": sequence,
        "usage": _usage(chat["usage"]),
    }
    return {key: value for key, value in result.items() if value is not None}


def _usage(usage: Mapping[str, Any]) -> dict[str, int]:
    return {"input_tokens": usage["prompt_tokens"], "output_tokens": usage["completion_tokens"]}


def _stop_reason(finish: str | None, stop: str | int | None, *, called: bool) -> tuple[str | None, str | None]:
    if finish == "length":
        return "max_tokens", None
    if finish not in ("stop", "tool_calls"):
        return None, None
    if called:
        return "tool_use", None
    return ("stop_sequence", stop) if isinstance(stop, str) else ("end_turn", None)


async def message_events(chunks: AsyncIterator[Mapping[str, Any] | bytes]) -> AsyncGenerator[_Event, None]:
    """Chat chunks as events: blocks never overlap and are numbered from 0."""
    blocks = _Blocks()
    async for chunk in chunks:
        if not isinstance(chunk, Mapping):
            if chunk == DONE:
                yield {"type": "message_stop"}
            continue
        for event in blocks.events(chunk):
            yield event


class _Blocks:
    """Which block is open, and what the end will have to say."""

    def __init__(self) -> None:
        self._started = False
        self._index = -1
        self._open: str | None = None
        self._calls: dict[int, str] = {}
        self._finish: str | None = None
        self._stop: str | int | None = None

    def events(self, chunk: Mapping[str, Any]) -> Iterator[_Event]:
        """The events that one chunk amounts to."""
        if "error" in chunk:
            yield {"type": "error", "error": {"type": "internal_error", "message": chunk["error"]["message"]}}
        elif not self._started:
            self._started = True
            yield self._message_start(chunk)
        elif chunk["choices"]:
            yield from self._choice(chunk["choices"][0])
        else:
            yield from self._close()
            reason, sequence = _stop_reason(self._finish or "stop", self._stop, called=bool(self._calls))
            delta = {"stop_reason": reason, "stop_sequence": sequence}
            yield {"type": "message_delta", "delta": delta, "usage": _usage(chunk["usage"])}

    def _message_start(self, chunk: Mapping[str, Any]) -> _Event:
        message = {
            "id": chunk["id"],
            "type": "message",
            "role": "assistant",
            "content": [],
            "model": chunk["model"],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": _usage(chunk["usage"]),
        }
        return {"type": "message_start", "message": message}

    def _choice(self, choice: Mapping[str, Any]) -> Iterator[_Event]:
        if choice["finish_reason"] is not None:
            self._finish, self._stop = choice["finish_reason"], choice.get("stop_reason")
        delta = choice["delta"]
        if delta.get("reasoning"):
            yield from self._text("thinking", delta["reasoning"])
        if delta.get("content") and self._open != "tool_use":
            yield from self._text("text", delta["content"])
        for call in delta.get("tool_calls", ()):
            yield from self._call(call)

    def _text(self, kind: str, text: str) -> Iterator[_Event]:
        if self._open != kind:
            yield from self._close()
            yield self._start({"type": kind, kind: ""})
        yield self._delta({"type": f"{kind}_delta", kind: text})

    def _call(self, call: Mapping[str, Any]) -> Iterator[_Event]:
        if "id" in call:
            yield from self._close()
            self._calls[call["index"]] = call["id"]
            block = {"type": "tool_use", "id": call["id"], "name": call["function"]["name"], "input": {}}
            yield self._start(block)
        else:
            yield self._delta({"type": "input_json_delta", "partial_json": call["function"]["arguments"]})

    def _start(self, block: dict[str, Any]) -> _Event:
        self._index += 1
        self._open = block["type"]
        return {"type": "content_block_start", "content_block": block, "index": self._index}

    def _delta(self, delta: dict[str, Any]) -> _Event:
        return {"type": "content_block_delta", "delta": delta, "index": self._index}

    def _close(self) -> Iterator[_Event]:
        if self._open is None:
            return
        if self._open == "thinking":
            yield self._delta({"type": "signature_delta", "signature": uuid.uuid4().hex})
        yield {"type": "content_block_stop", "index": self._index}
        self._open = None
