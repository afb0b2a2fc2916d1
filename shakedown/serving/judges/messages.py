"""AN: messages of the Anthropic API."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from shakedown.serving.answer import as_int
from shakedown.serving.exchange import shortened
from shakedown.serving.message import Message

STOP_REASONS = ("end_turn", "max_tokens", "stop_sequence", "tool_use")


def shape(message: Message, *, thinking: bool) -> Iterator[str]:
    """AN-01: type, role, blocks in the order thinking, text; a stop reason; usage.

    Args:
        message: the message.
        thinking: whether the deployment serves a reasoning model, whose thinking must then be a block of its own.
    """
    head = message.head
    if head.get("type") != "message" or head.get("role") != "assistant":
        yield f"type {head.get('type')!r}, role {head.get('role')!r}"
    types = [block.type for block in message.blocks]
    expected = ["thinking", "text"] if thinking else ["text"]
    if types != expected:
        yield f"blocks are {types}, expected {expected}"
    empty = [block.type for block in message.blocks if not block.text.strip()]
    if empty:
        yield f"empty blocks: {', '.join(empty)}"
    if message.stop_reason not in STOP_REASONS:
        yield f"stop_reason is {message.stop_reason!r}"
    if not message.input_tokens or not message.output_tokens:
        yield f"usage counts {message.input_tokens} input and {message.output_tokens} output tokens"


def order(message: Message) -> Iterator[str]:
    """AN-02: message_start, blocks one after the other, one message_delta, message_stop; pings may stand anywhere."""
    machine = _Machine()
    for event in message.events:
        problem = machine.step(event)
        if problem:
            yield problem
            return
    if machine.state != "stopped":
        yield f"ends in state {machine.state!r}, expected message_stop"


class _Machine:
    """Legal transitions of the event stream, as the API's reference gives them."""

    def __init__(self) -> None:
        self.state = "before"
        self._index = -1

    def step(self, event: Mapping[str, Any]) -> str | None:
        type = str(event.get("type"))
        if type == "ping":
            return None
        follows = {
            ("before", "message_start"): "between",
            ("between", "content_block_start"): "inside",
            ("inside", "content_block_delta"): "inside",
            ("inside", "content_block_stop"): "between",
            ("between", "message_delta"): "ending",
            ("ending", "message_stop"): "stopped",
        }
        after = follows.get((self.state, type))
        if after is None:
            return f"{type} in state {self.state!r}: {shortened(str(event), 80)}"
        self.state = after
        return self._wrong_index(type, event)

    def _wrong_index(self, type: str, event: Mapping[str, Any]) -> str | None:
        if not type.startswith("content_block"):
            return None
        if type == "content_block_start":
            self._index += 1
        index = as_int(event.get("index"))
        return None if index == self._index else f"{type} has index {index}, expected {self._index}"
