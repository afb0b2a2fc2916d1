"""The framing of streams: their end, their events, their usage."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping

from shakedown.simulator.fault import Event, Fault
from shakedown.simulator.paths import CHAT, DONE, MESSAGES


class MissingDone(Fault):
    """The stream just ends."""

    name = "missing-done"
    summary = "streams end without [DONE]"
    source = "vllm-project/vllm#35705"

    async def events(self, path: str, events: AsyncIterator[Event]) -> AsyncIterator[Event]:
        """All but the last."""
        del path
        async for event in events:
            if event != DONE:
                yield event


class MalformedEvent(Fault):
    """One event is cut off in the middle, as by a proxy that runs out of buffer."""

    name = "malformed-event"
    summary = "one event of every stream of the OpenAI routes is not JSON"

    async def events(self, path: str, events: AsyncIterator[Event]) -> AsyncIterator[Event]:
        """One more event, after the first; nothing is missing."""
        sent = path == MESSAGES
        async for event in events:
            yield event
            if not sent:
                sent = True
                yield b'{"id":"chatcmpl-'


class StreamNullFinishReason(Fault):
    """The last chunk does not say why."""

    name = "stream-null-finish-reason"
    summary = "streams never give a finish_reason"
    source = "vllm-project/vllm#27572"

    async def events(self, path: str, events: AsyncIterator[Event]) -> AsyncIterator[Event]:
        """Null everywhere."""
        del path
        async for event in events:
            if isinstance(event, Mapping) and event.get("choices"):
                yield {**event, "choices": [{**choice, "finish_reason": None} for choice in event["choices"]]}
            else:
                yield event


class StreamUsageMissing(Fault):
    """``include_usage`` has no effect."""

    name = "stream-usage-missing"
    summary = "streams carry no usage, asked or not"
    source = "vllm-project/vllm#44961"

    async def events(self, path: str, events: AsyncIterator[Event]) -> AsyncIterator[Event]:
        """Without the chunk that has no choices."""
        del path
        async for event in events:
            if not (isinstance(event, Mapping) and event.get("choices") == []):
                yield event


class EarlyEmptyChunk(Fault):
    """A second chunk without a token, long before the first token: chunked prefill sends such."""

    name = "early-empty-chunk"
    summary = "an empty content chunk follows the role at once; a client that takes it for a token is wrong"
    source = "vllm-project/vllm#15106"

    async def events(self, path: str, events: AsyncIterator[Event]) -> AsyncIterator[Event]:
        """One more event, after the first."""
        del path
        sent = False
        async for event in events:
            yield event
            if not sent and isinstance(event, Mapping) and event.get("choices"):
                sent = True
                yield {**event, "choices": [{**choice, "delta": {"content": ""}} for choice in event["choices"]]}


class ChangingId(Fault):
    """A gateway that gives every chunk an id of its own."""

    name = "changing-id"
    summary = "every chunk of a stream has another id"

    async def events(self, path: str, events: AsyncIterator[Event]) -> AsyncIterator[Event]:
        """Counted on."""
        number = 0
        async for event in events:
            if path == CHAT and isinstance(event, Mapping) and "id" in event:
                number += 1
                yield {**event, "id": f"{event['id']}-{number}"}
            else:
                yield event


class ErrorInStream(Fault):
    """Something fails when the answer is complete, and the status has long been sent."""

    name = "error-in-stream"
    summary = "streams end with an error object, behind status 200"
    source = "vllm-project/vllm#40147"

    async def events(self, path: str, events: AsyncIterator[Event]) -> AsyncIterator[Event]:
        """One more event, before the last."""
        async for event in events:
            if path == CHAT and event == DONE:
                yield {"error": {"message": "list index out of range", "type": "InternalServerError", "code": 500}}
            yield event


class ReasoningAfterContent(Fault):
    """Text that the stop-string buffer held back goes to the wrong field."""

    name = "reasoning-after-content"
    summary = "streams with reasoning end with one more piece of it, after the content"
    source = "vllm-project/vllm#51641"

    async def events(self, path: str, events: AsyncIterator[Event]) -> AsyncIterator[Event]:
        """One more event, before the one that says why it ends."""
        thought: Event | None = None
        async for event in events:
            choices = event.get("choices", ()) if path == CHAT and isinstance(event, Mapping) else ()
            if any(choice["delta"].get("reasoning", "").strip() for choice in choices):
                thought = event
            elif thought is not None and any(choice["finish_reason"] for choice in choices):
                yield thought
            yield event
