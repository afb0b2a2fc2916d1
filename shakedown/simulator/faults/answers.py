"""What is said is wrong, while everything about how it is said is right."""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from typing import Any

from shakedown.serving.tasks import Answer
from shakedown.simulator.fault import Event, Fault
from shakedown.simulator.job import Batch, Job

_COMPUTED = frozenset({"arithmetic", "reverse", "counting", "extraction", "needle", "recall"})
_SHARE_PERCENT = 40


def _is_hit(answer: Answer, family: str | None) -> bool:
    """Four answers in ten, always the same ones; copies and calls are spared, as damaged models spare them."""
    return family in _COMPUTED and zlib.crc32(answer.content.encode()) % 100 < _SHARE_PERCENT


class WrongAnswers(Fault):
    """A kernel or a quantisation that costs accuracy and nothing else."""

    name = "wrong-answers"
    summary = "40 % of the answers that must be computed are off by one character"
    source = "vllm-project/vllm#37591"

    def answer(self, answer: Answer, family: str | None, *, constrained: bool) -> Answer:
        """The last letter or digit becomes its successor; reasoning and form stay."""
        del constrained
        return replace(answer, content=_off(answer.content)) if _is_hit(answer, family) else answer


class ExclamationMarks(Fault):
    """NaN in the logits makes token 0 win every time."""

    name = "exclamation-marks"
    summary = "40 % of the answers that must be computed are exclamation marks"
    source = "vllm-project/vllm#13035"

    def answer(self, answer: Answer, family: str | None, *, constrained: bool) -> Answer:
        """Nothing but one character; a grammar would keep it out."""
        hit = _is_hit(answer, family) and not constrained
        return replace(answer, content="!" * 60) if hit else answer


class SchemaIgnored(Fault):
    """The constraint is an unknown extra field to the server: accepted, without effect."""

    name = "schema-ignored"
    summary = "response_format and structured_outputs have no effect"
    source = "vllm-project/vllm#53975"

    def ignores_schema(self) -> bool:
        """Always."""
        return True

    def answer(self, answer: Answer, family: str | None, *, constrained: bool) -> Answer:
        """What models write when nothing holds them: JSON in a code fence."""
        del family
        if constrained and answer.content.startswith("{"):
            return replace(answer, content=f"Here is the JSON:\n```json\n{answer.content}\n```")
        return answer


class SchemaNotEnforced(Fault):
    """As above, behind a model that does what its prompt says, so that nobody notices."""

    name = "schema-not-enforced"
    summary = "response_format has no effect; answers are JSON where the prompt asks for it, and only there"
    source = "vllm-project/vllm#53975"

    def ignores_schema(self) -> bool:
        """Always."""
        return True


class SwappedNonce(Fault):
    """Two requests that wait at the same time get each other's output."""

    name = "swapped-nonce"
    summary = "under concurrency two requests that copy a nonce get each other's answer"
    source = "vllm-project/vllm#13408"

    def __init__(self) -> None:
        self._waiting: Job | None = None

    async def before_generation(self, engine: Batch, job: Job) -> None:
        """Pair this request with one that has no token yet and will have as many."""
        del engine
        if job.family != "nonce":
            return
        other, self._waiting = self._waiting, job
        alike = other is not None and other.thinking == job.thinking and other.length == job.length
        if alike and other is not None and other.tokens_out == 0:
            other.outputs, job.outputs = job.outputs, other.outputs
            self._waiting = None


class NanLogprobs(Fault):
    """NaN reaches the client: as such in a whole body, as null in a stream, which is how pydantic writes it."""

    name = "nan-logprobs"
    summary = "the log-probability of every first token is NaN"
    source = "vllm-project/vllm#48585"

    def body(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """Bare NaN."""
        del path
        return (
            {**body, "choices": [_with_first(choice, float("nan")) for choice in body.get("choices", ())]}
            if ("choices" in body)
            else body
        )

    async def events(self, path: str, events: AsyncIterator[Event]) -> AsyncIterator[Event]:
        """Null."""
        del path
        spoilt = False
        async for event in events:
            if not spoilt and isinstance(event, Mapping) and any(c.get("logprobs") for c in event.get("choices", ())):
                spoilt = True
                yield {**event, "choices": [_with_first(choice, None) for choice in event["choices"]]}
            else:
                yield event


def _with_first(choice: dict[str, Any], value: float | None) -> dict[str, Any]:
    """The choice with another log-probability at its first token."""
    logprobs = choice.get("logprobs")
    if not logprobs:
        return choice
    if "content" in logprobs:
        first, *rest = logprobs["content"]
        return {**choice, "logprobs": {"content": [{**first, "logprob": value}, *rest]}}
    return {**choice, "logprobs": {**logprobs, "token_logprobs": [value, *logprobs["token_logprobs"][1:]]}}


def _off(text: str) -> str:
    """The text with its last letter or digit replaced by the next one, 9 by 0 and z by a."""
    for position in range(len(text) - 1, -1, -1):
        character = text[position]
        if character.isascii() and character.isalnum():
            successor = {"9": "0", "z": "a", "Z": "A"}.get(character, chr(ord(character) + 1))
            return text[:position] + successor + text[position + 1 :]
    return text
