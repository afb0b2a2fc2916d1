"""An answer of the Anthropic API (`/v1/messages`), the same whether it came whole or streamed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from shakedown.serving.answer import as_dict, as_int, as_list, as_str
from shakedown.serving.exchange import Exchange
from shakedown.serving.sse import DONE, Stream, read_stream


@dataclass(frozen=True, slots=True)
class Block:
    """One content block: ``thinking``, ``text`` or ``tool_use``; ``text`` is its text or the JSON of its input."""

    type: str
    text: str


@dataclass(frozen=True)
class Message:
    """One message with its blocks."""

    exchange: Exchange

    @property
    def streamed(self) -> bool:
        """Whether it came as events."""
        return self.exchange.request.streamed

    @cached_property
    def stream(self) -> Stream:
        """The events of a streamed message."""
        return read_stream(self.exchange.arrivals)

    @cached_property
    def events(self) -> tuple[Mapping[str, Any], ...]:
        """The JSON objects of the stream; vLLM ends it with OpenAI's ``[DONE]``, which is left out."""
        return tuple(as_dict(event.json) for event in self.stream.events if event.data != DONE)

    @cached_property
    def head(self) -> Mapping[str, Any]:
        """The message object: the body, or what ``message_start`` carries."""
        if not self.streamed:
            return as_dict(self.exchange.json)
        return next((as_dict(event.get("message")) for event in self._of_type("message_start")), {})

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """The content blocks in order of their index."""
        if not self.streamed:
            return tuple(_whole(as_dict(block)) for block in as_list(self.head.get("content")))
        types = {
            event.get("index"): as_str(as_dict(event.get("content_block")).get("type"))
            for event in self._of_type("content_block_start")
        }
        texts = dict.fromkeys(types, "")
        for event in self._of_type("content_block_delta"):
            delta = as_dict(event.get("delta"))
            piece = as_str(delta.get("text")) or as_str(delta.get("thinking")) or as_str(delta.get("partial_json"))
            texts[event.get("index")] = texts.get(event.get("index"), "") + piece
        return tuple(Block(types.get(index, ""), text) for index, text in texts.items())

    @property
    def stop_reason(self) -> str:
        """Why it ended; empty where it is not said."""
        if not self.streamed:
            return as_str(self.head.get("stop_reason"))
        return next((as_str(as_dict(event.get("delta")).get("stop_reason")) for event in self._deltas), "")

    @property
    def input_tokens(self) -> int | None:
        """Tokens of the prompt, those read from a cache included."""
        usage = as_dict(self.head.get("usage"))
        parts = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
        counts = [as_int(usage.get(part)) for part in parts]
        return None if counts[0] is None else sum(count or 0 for count in counts)

    @property
    def output_tokens(self) -> int | None:
        """Generated tokens."""
        if not self.streamed:
            return as_int(as_dict(self.head.get("usage")).get("output_tokens"))
        counts = [as_int(as_dict(event.get("usage")).get("output_tokens")) for event in self._deltas]
        return counts[-1] if counts else None

    @property
    def _deltas(self) -> tuple[Mapping[str, Any], ...]:
        return self._of_type("message_delta")

    def _of_type(self, type: str) -> tuple[Mapping[str, Any], ...]:
        return tuple(event for event in self.events if event.get("type") == type)


def _whole(block: Mapping[str, Any]) -> Block:
    return Block(as_str(block.get("type")), as_str(block.get("text")) or as_str(block.get("thinking")))
