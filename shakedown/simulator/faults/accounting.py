"""Numbers and reasons that do not add up, while every token is right."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any

from shakedown.simulator.fault import Event, Fault
from shakedown.simulator.paths import CHAT


class _Usage(Fault):
    """A fault in the usage of the chat route."""

    def usage(self, usage: dict[str, Any]) -> dict[str, Any]:
        """The numbers as they are sent."""
        raise NotImplementedError

    def body(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """In whole answers."""
        return {**body, "usage": self.usage(body["usage"])} if path == CHAT else body

    async def events(self, path: str, events: AsyncIterator[Event]) -> AsyncIterator[Event]:
        """In every chunk that has any."""
        async for event in events:
            if path == CHAT and isinstance(event, Mapping) and "usage" in event:
                yield {**event, "usage": self.usage(event["usage"])}
            else:
                yield event


class UsageTotalWrong(_Usage):
    """The total is not the sum."""

    name = "usage-total-wrong"
    summary = "usage.total_tokens is one more than the sum"
    source = "vllm-project/vllm#8625"

    def usage(self, usage: dict[str, Any]) -> dict[str, Any]:
        """One more."""
        return {**usage, "total_tokens": usage["total_tokens"] + 1}


class PromptTokensWrong(_Usage):
    """The prompt is counted otherwise than it is rendered."""

    name = "prompt-tokens-wrong"
    summary = "usage.prompt_tokens is three more than the prompt has"
    source = "vllm-project/vllm#13256"

    def usage(self, usage: dict[str, Any]) -> dict[str, Any]:
        """Three more, in the total too."""
        return {
            **usage,
            "prompt_tokens": usage["prompt_tokens"] + 3,
            "total_tokens": usage["total_tokens"] + 3,
        }


class NullFinishReason(Fault):
    """Whole answers do not say why they end."""

    name = "null-finish-reason"
    summary = "whole answers have finish_reason null"
    source = "vllm-project/vllm#27572"

    def body(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """Null in every choice."""
        if path != CHAT:
            return body
        return {**body, "choices": [{**choice, "finish_reason": None} for choice in body["choices"]]}


class MetricsUndercount(Fault):
    """The token that prefill produces is forgotten."""

    name = "metrics-undercount"
    summary = "vllm:generation_tokens_total misses the first token of every request"

    def counted(self, tokens: int, *, first: bool) -> int:
        """One less."""
        return tokens - 1 if first else tokens
