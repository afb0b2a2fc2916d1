"""ST: how a streamed answer is cut into events, told from its raw bytes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from shakedown.serving.answer import Answer, as_dict, as_int, as_list, reasoning_of
from shakedown.serving.exchange import shortened
from shakedown.serving.sse import DONE


def events(answer: Answer) -> Iterator[str]:
    """ST-01: an event stream of JSON objects, closed by exactly one ``[DONE]`` and nothing behind it."""
    kind = answer.exchange.headers.get("content-type", "")
    if not kind.startswith("text/event-stream"):
        yield f"content-type is {kind!r}, expected text/event-stream"
    stream = answer.stream
    for event in stream.events:
        if event.data != DONE and not isinstance(event.json, Mapping):
            yield f"an event that is no JSON object: {shortened(event.data)}"
    if stream.stray:
        yield f"a line outside any field: {shortened(stream.stray[0])}"
    if stream.rest:
        yield f"ends in the middle of an event: {shortened(stream.rest.decode('utf-8', 'replace'))}"
    done = [position for position, event in enumerate(stream.events) if event.data == DONE]
    if done != [len(stream.events) - 1]:
        yield f"{len(done)} × [DONE] among {len(stream.events)} events, expected one, as the last"


def finish(answer: Answer) -> Iterator[str]:
    """ST-02: exactly one finish reason, and behind it nothing but a chunk with the usage."""
    if len(answer.finish_reasons) != 1:
        yield f"{len(answer.finish_reasons)} finish reasons {list(answer.finish_reasons)}, expected exactly one"
        return
    ended = False
    for chunk in answer.chunks:
        choices = [as_dict(choice) for choice in as_list(chunk.get("choices"))]
        if ended and choices:
            yield f"a choice after the finish reason: {shortened(str(choices[0]))}"
        ended = ended or any(choice.get("finish_reason") for choice in choices)


def identity(answer: Answer) -> Iterator[str]:
    """ST-03: the first delta carries the role; id, created and model stay the same."""
    if not answer.parts or answer.parts[0].get("role") != "assistant":
        yield "the first delta carries no role assistant"
    for field in ("id", "created", "model"):
        values = {chunk.get(field) for chunk in answer.chunks if "error" not in chunk}
        if len(values) != 1:
            yield f"{field} takes {len(values)} values: {sorted(map(str, values))[:3]}"


def usage(answer: Answer) -> Iterator[str]:
    """ST-04: one last chunk with the usage and no choice where it was asked for, none where it was not."""
    options = as_dict((answer.exchange.request.body or {}).get("stream_options"))
    chunks = [chunk for chunk in answer.chunks if "error" not in chunk]
    carriers = [chunk for chunk in chunks if chunk.get("usage")]
    if not options.get("include_usage"):
        if carriers:
            yield "a chunk with usage, though include_usage was not asked for"
        return
    if len(carriers) != 1:
        yield f"{len(carriers)} chunks with usage, expected one"
        return
    if carriers[0].get("choices") or carriers[0] is not chunks[-1]:
        yield "the chunk with usage is not the last, or has choices"
    counts = {name: as_int(as_dict(carriers[0]["usage"]).get(f"{name}_tokens")) for name in ("prompt", "completion")}
    if None in counts.values() or not all(counts.values()):
        yield f"usage counts {counts}"


def errors(answer: Answer) -> Iterator[str]:
    """ST-09: no error object inside a stream that began with status 200."""
    for chunk in answer.chunks:
        if chunk.get("error"):
            yield f"status 200, then {shortened(str(chunk['error']))}"


def phases(answer: Answer) -> Iterator[str]:
    """ST-10: reasoning, then content, then tool calls; white space between them does not count."""
    reached = 0
    for part in answer.parts:
        phase = _phase(part)
        if phase is not None and phase < reached:
            yield f"{_PHASES[phase]} after {_PHASES[reached]} began"
            return
        reached = max(reached, phase or 0)


_PHASES = ("reasoning", "content", "tool calls")


def _phase(part: Mapping[str, Any]) -> int | None:
    if as_list(part.get("tool_calls")):
        return 2
    if str(part.get("content") or "").strip():
        return 1
    return 0 if reasoning_of(part).strip() else None


def repeated_names(answer: Answer) -> Iterator[str]:
    """Part of TC-06: of every call, id and name stand in one delta only."""
    seen: Counter[tuple[str, Any]] = Counter()
    for part in answer.parts:
        for piece in map(as_dict, as_list(part.get("tool_calls"))):
            seen["id", piece.get("index")] += bool(piece.get("id"))
            seen["name", piece.get("index")] += bool(as_dict(piece.get("function")).get("name"))
    for (field, index), times in seen.items():
        if times != 1:
            yield f"{field} of call {index} stands in {times} deltas, expected one"
