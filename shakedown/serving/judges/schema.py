"""PR-01: a chat completion that came whole has the documented shape."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from shakedown.serving.answer import Answer, as_dict, as_int, as_list
from shakedown.serving.exchange import shortened

FINISH_REASONS = ("stop", "length", "tool_calls")
CLOCK_TOLERANCE_S = 300
"""``created`` against our clock: further apart, and logs of client and server cannot be laid side by side."""


def body_shape(answer: Answer) -> Iterator[str]:
    """What is wrong with the body of an answer that was not streamed."""
    body = answer.exchange.json
    if not isinstance(body, Mapping):
        yield f"not a JSON object: {shortened(answer.exchange.text)}"
        return
    if not str(body.get("id", "")).startswith("chatcmpl-"):
        yield f"id is {body.get('id')!r}, expected chatcmpl-…"
    if body.get("object") != "chat.completion":
        yield f"object is {body.get('object')!r}"
    yield from _created(body, answer.exchange.sent_at)
    yield from _model(body, answer)
    yield from _choices(body, answer)
    yield from _usage(body)


def _created(body: Mapping[str, Any], sent_at: str) -> Iterator[str]:
    created = as_int(body.get("created"))
    if created is None:
        yield f"created is {body.get('created')!r}, expected whole seconds"
    elif abs(created - datetime.fromisoformat(sent_at).timestamp()) > CLOCK_TOLERANCE_S:
        yield f"created is {created}, more than {CLOCK_TOLERANCE_S} s from {sent_at}"


def _model(body: Mapping[str, Any], answer: Answer) -> Iterator[str]:
    asked = (answer.exchange.request.body or {}).get("model")
    if body.get("model") != asked:
        yield f"model is {body.get('model')!r}, asked was {asked!r}"


def _choices(body: Mapping[str, Any], answer: Answer) -> Iterator[str]:
    choices = [as_dict(choice) for choice in as_list(body.get("choices"))]
    wanted = (answer.exchange.request.body or {}).get("n", 1)
    indexes = [choice.get("index") for choice in choices]
    if indexes != list(range(wanted)):
        yield f"choices have the indexes {indexes}, asked for {wanted}"
    for choice in choices:
        if choice.get("finish_reason") not in FINISH_REASONS:
            yield f"finish_reason is {choice.get('finish_reason')!r}, expected one of {', '.join(FINISH_REASONS)}"
        if as_dict(choice.get("message")).get("role") != "assistant":
            yield "message has no role assistant"


def _usage(body: Mapping[str, Any]) -> Iterator[str]:
    usage = as_dict(body.get("usage"))
    prompt, completion, total = (as_int(usage.get(f"{part}_tokens")) for part in ("prompt", "completion", "total"))
    if prompt is None or completion is None or total is None:
        yield f"usage is {body.get('usage')!r}, expected prompt, completion and total tokens"
    elif prompt < 1 or completion < 1 or total != prompt + completion:
        yield f"usage: {prompt} prompt + {completion} completion tokens, total {total}"
