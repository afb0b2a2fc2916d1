"""What ``/v1/messages`` says is not what the chat route says."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any

from shakedown.simulator.fault import Event, Fault
from shakedown.simulator.paths import COUNT_TOKENS, MESSAGES


class CountTokensDiffers(Fault):
    """Counted before the template is applied."""

    name = "count-tokens-differs"
    summary = "/v1/messages/count_tokens counts two tokens less than the prompt has"

    def body(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """Two less."""
        return {**body, "input_tokens": body["input_tokens"] - 2} if path == COUNT_TOKENS else body


class MessagesUsageDiffers(Fault):
    """The translation loses part of the prompt's count."""

    name = "messages-usage-differs"
    summary = "usage.input_tokens of /v1/messages is two less than the prompt has"

    def body(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """In whole answers."""
        return _with_less_usage(body) if path == MESSAGES else body

    async def events(self, path: str, events: AsyncIterator[Event]) -> AsyncIterator[Event]:
        """At the start and at the end of streams."""
        async for event in events:
            if path != MESSAGES or not isinstance(event, Mapping):
                yield event
            elif "message" in event:
                yield {**event, "message": _with_less_usage(event["message"])}
            else:
                yield _with_less_usage(event) if "usage" in event else event


class MessagesThinkingLost(Fault):
    """The translation knows text and tools only."""

    name = "messages-thinking-lost"
    summary = "/v1/messages has no thinking blocks"

    def body(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """In whole answers."""
        if path != MESSAGES:
            return body
        return {**body, "content": [block for block in body["content"] if block["type"] != "thinking"]}

    async def events(self, path: str, events: AsyncIterator[Event]) -> AsyncIterator[Event]:
        """In streams, where the blocks after it move up."""
        lost: set[int] = set()
        async for event in events:
            if path == MESSAGES and isinstance(event, Mapping) and "index" in event:
                index = event["index"]
                if event.get("content_block", {}).get("type") == "thinking":
                    lost.add(index)
                if index not in lost:
                    yield {**event, "index": index - sum(other < index for other in lost)}
            else:
                yield event


class MessagesFinishReason(Fault):
    """The translation hands on a word that this API does not have."""

    name = "messages-finish-reason"
    summary = "stop_reason of whole answers of /v1/messages is the chat route's `stop`, not `end_turn`"

    def body(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """In whole answers."""
        untranslated = path == MESSAGES and body.get("stop_reason") == "end_turn"
        return {**body, "stop_reason": "stop"} if untranslated else body


class MessageBlocksOverlap(Fault):
    """The next block is opened before the last one is closed."""

    name = "message-blocks-overlap"
    summary = "in streams of /v1/messages the text block starts before the thinking block stops"
    source = "BerriAI/litellm#33224"

    async def events(self, path: str, events: AsyncIterator[Event]) -> AsyncIterator[Event]:
        """The stop of the first block comes one event late."""
        held: list[Event] = []
        done = path != MESSAGES
        async for event in events:
            if not done and isinstance(event, Mapping) and event.get("type") == "content_block_stop":
                held.append(event)
                done = True
                continue
            yield event
            while held:
                yield held.pop()


def _with_less_usage(holder: Mapping[str, Any]) -> dict[str, Any]:
    usage = holder["usage"]
    return {**holder, "usage": {**usage, "input_tokens": usage["input_tokens"] - 2}}
