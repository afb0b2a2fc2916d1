"""Reasoning ends up where it does not belong, or does not end up anywhere."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from shakedown.serving.tasks import Answer
from shakedown.simulator.fault import Event, Fault
from shakedown.simulator.model import Model
from shakedown.simulator.parsing import Delta, OutputParser
from shakedown.simulator.settings import Settings


class ReasoningInContent(Fault):
    """``--reasoning-parser`` got lost on the way to the command line."""

    name = "reasoning-in-content"
    summary = "the server has no reasoning parser: content begins with <think>"
    source = "vllm-project/vllm#21130"

    def configure(self, settings: Settings) -> Settings:
        """No parser."""
        return replace(settings, reasoning_parser=False)


class _Leaking(OutputParser):
    def end_reasoning(self, piece: str, delta: Delta) -> None:
        """The tag is taken for text."""
        super().end_reasoning(piece, delta)
        delta.content += piece


class LeakedEndTag(Fault):
    """Reasoning and content are told apart, the tag between them is not taken away."""

    name = "leaked-end-tag"
    summary = "content begins with </think>"
    source = "vllm-project/vllm#46224"

    def parser(self, parser: type[OutputParser], *, streamed: bool) -> type[OutputParser]:
        """In both modes."""
        del parser, streamed
        return _Leaking


class ReasoningMissingInStream(Fault):
    """Streamed reasoning is dropped, whole answers are right."""

    name = "reasoning-missing-in-stream"
    summary = "streams carry no reasoning"
    source = "BerriAI/litellm#20246"

    async def events(self, path: str, events: AsyncIterator[Event]) -> AsyncIterator[Event]:
        """Without the field; a chunk that carried nothing else is not sent."""
        del path
        async for event in events:
            if not isinstance(event, Mapping) or not any("reasoning" in _delta(c) for c in event.get("choices", ())):
                yield event
                continue
            choices = [{**choice, "delta": _without_reasoning(choice)} for choice in event["choices"]]
            if any(choice["delta"] or choice["finish_reason"] for choice in choices):
                yield {**event, "choices": choices}


class ThinkingNotOff(Fault):
    """The template does not know the switch."""

    name = "thinking-not-off"
    summary = "enable_thinking=false has no effect"
    source = "vllm-project/vllm#17357"

    def template_arguments(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Without the switch."""
        return {name: value for name, value in arguments.items() if name != "enable_thinking"}


class _AlwaysReasoning(OutputParser):
    def __init__(self, model: Model, *, thinking: bool, tools: bool) -> None:
        del thinking
        super().__init__(model, thinking=True, tools=tools)


class StreamAnswerAsReasoning(Fault):
    """The streaming parser waits for an end tag that stands in the prompt."""

    name = "stream-answer-as-reasoning"
    summary = "with thinking off, streamed answers arrive as reasoning"
    source = "vllm-project/vllm#40816"

    def parser(self, parser: type[OutputParser], *, streamed: bool) -> type[OutputParser]:
        """In streams only."""
        return _AlwaysReasoning if streamed else parser


class _NoEndNoReasoning(OutputParser):
    def feed(self, ids: Sequence[int], pieces: Sequence[str]) -> Delta:
        """Text without an end tag is taken for an answer."""
        delta = super().feed(ids, pieces)
        if self.in_reasoning:
            return Delta(content=delta.reasoning)
        return delta


class TruncatedThinkingAsContent(Fault):
    """No end tag is taken to mean that thinking was off."""

    name = "truncated-thinking-as-content"
    summary = "whole answers that are cut off while thinking have their reasoning as content"
    source = "vllm-project/vllm#35221"

    def parser(self, parser: type[OutputParser], *, streamed: bool) -> type[OutputParser]:
        """In whole answers only."""
        return parser if streamed else _NoEndNoReasoning


class WrongAfterThinking(Fault):
    """What follows the reasoning is damaged: drafts are accepted across its end, or the cache drifts."""

    name = "wrong-after-thinking"
    summary = "digits in answers after thinking are off by one"
    source = "vllm-project/vllm#46669"

    def parser(self, parser: type[OutputParser], *, streamed: bool) -> type[OutputParser]:
        """In both modes."""
        del parser, streamed
        return _Drifting


class _Drifting(OutputParser):
    def __init__(self, model: Model, *, thinking: bool, tools: bool) -> None:
        super().__init__(model, thinking=thinking, tools=tools)
        self._thought = thinking

    def feed(self, ids: Sequence[int], pieces: Sequence[str]) -> Delta:
        """Every digit becomes its successor, 9 becomes 1: a number of JSON must not begin with 0."""
        delta = super().feed(ids, pieces)
        if self._thought:
            delta.content = delta.content.translate(_NEXT_DIGIT)
        return delta


_NEXT_DIGIT = str.maketrans("0123456789", "1234567891")


class SchemaBindsThinking(Fault):
    """The grammar starts at the first token and not behind the reasoning."""

    name = "schema-binds-thinking"
    summary = "under response_format the reasoning is JSON, too"
    source = "sgl-project/sglang#9282"

    def answer(self, answer: Answer, family: str | None, *, constrained: bool) -> Answer:
        """The answer takes the place of the thoughts."""
        del family
        return replace(answer, thinking=answer.content) if constrained else answer


def _delta(choice: Mapping[str, Any]) -> Mapping[str, Any]:
    delta = choice.get("delta", {})
    return delta if isinstance(delta, Mapping) else {}


def _without_reasoning(choice: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in _delta(choice).items() if name != "reasoning"}
