"""The framing of streams: their end, their events, their usage."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping

from shakedown.simulator.chat import DONE
from shakedown.simulator.faults.base import Event, Fault
from shakedown.simulator.messages import PATH as MESSAGES


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
