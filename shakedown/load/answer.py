"""Stamped bytes of an answer -> `RequestRecord`: the semantics of OpenAI-compatible streams.

Runs after the load, never during it: reading JSON while streams are open would delay the stamps of the others.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from shakedown.load.records import Arrival, Carries, RequestRecord, Status, Usage
from shakedown.load.stream import Chunk, Event, events

BROKEN_FINISH = frozenset({"error", "abort"})
"""Finish reasons by which vLLM says that it gave a request up (``vllm.v1.engine.FinishReason``)."""


@dataclass(slots=True)
class RawAnswer:
    """What the connection gave for one request, unread. Times as in `RequestRecord`.

    Attributes:
        choices: how many answers were asked for (``n``).
        trouble: what ended the exchange from outside, for people; empty if the body ended by itself.
        cancelled: this client ended it.
    """

    index: int
    scheduled: float
    choices: int = 1
    sent: float | None = None
    connection_reused: bool = True
    headers: float | None = None
    http_status: int | None = None
    chunks: list[Chunk] = field(default_factory=list)
    ended: float = 0.0
    trouble: str = ""
    cancelled: bool = False


@dataclass(slots=True)
class _Reading:
    arrivals: list[Arrival] = field(default_factory=list)
    finish: dict[int, str] = field(default_factory=dict)
    usage: Usage | None = None
    error: str = ""


def read_answer(raw: RawAnswer) -> RequestRecord:
    """Read a whole answer; never raises on what a server sent."""
    reading = _Reading()
    if raw.http_status == 200:
        for event in events(raw.chunks):
            reading.arrivals.append(_read_event(event, reading))
    status, why = _outcome(raw, reading)
    return RequestRecord(
        index=raw.index,
        scheduled=raw.scheduled,
        sent=raw.sent,
        connection_reused=raw.connection_reused,
        headers=raw.headers,
        first_byte=raw.chunks[0].at if raw.chunks else None,
        ended=raw.ended,
        http_status=raw.http_status,
        status=status,
        why=why,
        arrivals=tuple(reading.arrivals),
        finish_reasons=tuple(reason for _, reason in sorted(reading.finish.items())),
        usage=reading.usage,
    )


def _read_event(event: Event, reading: _Reading) -> Arrival:
    if event.data.strip() == b"[DONE]":
        return Arrival(event.at, Carries.DONE)
    try:
        message = json.loads(event.data)
    except (ValueError, RecursionError):
        message = None
    if not isinstance(message, dict):
        reading.error = reading.error or f"an event that is no JSON object: {_excerpt(event.data)}"
        return Arrival(event.at, Carries.ERROR)
    if event.type == "error" or message.get("error") or message.get("object") == "error":
        reading.error = reading.error or f"error in the stream: {_excerpt(event.data)}"
        return Arrival(event.at, Carries.ERROR)
    return _read_message(event.at, message, reading)


def _read_message(at: float, message: Mapping[str, Any], reading: _Reading) -> Arrival:
    carries = Carries.NOTHING
    choices = message.get("choices")
    for choice in choices if isinstance(choices, list) else []:
        if isinstance(choice, dict):
            carries |= _read_choice(choice, reading)
    usage = _usage(message.get("usage"))
    if usage is not None:
        reading.usage = usage
        carries |= Carries.USAGE
    return Arrival(at, carries, usage.completion_tokens if usage else None)


def _read_choice(choice: Mapping[str, Any], reading: _Reading) -> Carries:
    carries = Carries.NOTHING
    delta = choice.get("delta")
    if isinstance(delta, dict):
        if delta.get("reasoning") or delta.get("reasoning_content"):
            carries |= Carries.REASONING
        if delta.get("content"):
            carries |= Carries.ANSWER
        calls = delta.get("tool_calls")
        if isinstance(calls, list) and any(_says_something(call) for call in calls):
            carries |= Carries.TOOL_CALL
    if choice.get("text"):  # /v1/completions
        carries |= Carries.ANSWER
    index, reason = choice.get("index", 0), choice.get("finish_reason")
    if isinstance(reason, str) and isinstance(index, int):
        reading.finish[index] = reason
        carries |= Carries.FINISH
    return carries


def _says_something(call: Any) -> bool:
    function = call.get("function") if isinstance(call, dict) else None
    return isinstance(function, dict) and bool(function.get("name") or function.get("arguments"))


def _usage(value: Any) -> Usage | None:
    if not isinstance(value, dict):
        return None
    prompt, completion = value.get("prompt_tokens"), value.get("completion_tokens")
    if not isinstance(prompt, int) or not isinstance(completion, int):
        return None
    return Usage(prompt_tokens=prompt, completion_tokens=completion)


def _outcome(raw: RawAnswer, reading: _Reading) -> tuple[Status, str]:
    if raw.http_status is not None and raw.http_status != 200:
        body = b"".join(chunk.data for chunk in raw.chunks)
        return Status.FAILED, f"HTTP {raw.http_status}: {_excerpt(body)}"
    if reading.error:
        return Status.FAILED, reading.error
    broken = sorted(BROKEN_FINISH.intersection(reading.finish.values()))
    if broken:
        return Status.FAILED, f"finish_reason {broken[0]!r}"
    missing = [index for index in range(raw.choices) if index not in reading.finish]
    if not missing and not raw.trouble:
        return Status.OK, ""
    if raw.cancelled:
        return Status.CANCELLED, raw.trouble
    if not reading.arrivals:
        what = "no server-sent event in the body" if raw.http_status == 200 else "no response"
        return Status.FAILED, raw.trouble or f"{what}: {_excerpt(b''.join(c.data for c in raw.chunks))}"
    seen = f"after {sum(arrival.has_token for arrival in reading.arrivals)} arrivals with tokens"
    return Status.INCOMPLETE, f"{raw.trouble or 'the stream ended without a finish_reason'} {seen}"


def _excerpt(data: bytes, limit: int = 200) -> str:
    text = data[:limit].decode("utf-8", "replace").strip()
    return (text or "(empty)") + (" ..." if len(data) > limit else "")
