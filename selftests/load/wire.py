"""Answers on the wire, written by hand: the words of the tests on streams."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from shakedown.load.answer import RawAnswer, read_answer
from shakedown.load.records import RequestRecord
from shakedown.load.stream import Chunk

SENT = 100.0
"""When every hand-written request was sent, s."""

DONE = b"data: [DONE]\n\n"


def event(message: Any) -> bytes:
    return b"data: " + json.dumps(message).encode() + b"\n\n"


def delta(content: dict[str, Any], *, finish: str | None = None, so_far: int | None = None, index: int = 0) -> bytes:
    message: dict[str, Any] = {"choices": [{"index": index, "delta": content, "finish_reason": finish}]}
    if so_far is not None:
        message["usage"] = {"prompt_tokens": 7, "completion_tokens": so_far}
    return event(message)


def usage(completion: int, prompt: int = 7) -> bytes:
    return event({"choices": [], "usage": {"prompt_tokens": prompt, "completion_tokens": completion}})


ROLE = delta({"role": "assistant", "content": ""})
FINISH = delta({}, finish="length")
BODY = delta({"content": "x"})


def answered(
    script: Iterable[tuple[float, bytes]], *, http_status: int = 200, choices: int = 1, trouble: str = ""
) -> RequestRecord:
    """The record of an answer whose bytes came at these times, s after it was sent."""
    chunks = [Chunk(SENT + at, data) for at, data in script]
    last = chunks[-1].at if chunks else SENT
    return read_answer(
        RawAnswer(
            index=0,
            scheduled=SENT,
            choices=choices,
            sent=SENT,
            headers=SENT,
            http_status=http_status,
            chunks=chunks,
            ended=last,
            trouble=trouble,
        )
    )


def steady(first: float, gap: float, n: int) -> Sequence[tuple[float, bytes]]:
    """A healthy stream: role at once, ``n`` tokens, the first at ``first`` s, one every ``gap`` s."""
    tokens = [(first + gap * place, delta({"content": "x"})) for place in range(n)]
    end = first + gap * (n - 1)
    return [(0.0, ROLE), *tokens, (end, FINISH), (end, usage(n)), (end, DONE)]
