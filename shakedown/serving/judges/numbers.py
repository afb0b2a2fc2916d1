"""DN-01: log probabilities are numbers that can be one."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any, NoReturn

from shakedown.engines.vllm.wire import LOGPROB_CLAMP
from shakedown.serving.answer import Answer, as_list
from shakedown.serving.sse import DONE

ROUNDING = 1e-6
"""A probability of one comes out as a logprob a few 1e-7 above or below zero in single precision."""


def finite(answer: Answer) -> Iterator[str]:
    """No NaN, infinity, null or positive logprob, no clamp on a sampled token, no bare NaN in the JSON."""
    yield from _bare(answer)
    entries = list(answer.logprobs())
    if answer.logprobs_asked and not entries:
        yield "logprobs were asked for, and there are none"
    for position, entry in enumerate(entries):
        value = entry.get("logprob")
        if not _possible(value, above=LOGPROB_CLAMP):
            yield f"logprob of sampled token {position} ({entry.get('token')!r}) is {value}"
        for other in as_list(entry.get("top_logprobs")):
            if not isinstance(other, dict) or not _possible(other.get("logprob")):
                yield f"top_logprobs of token {position} holds {other}"


def _possible(value: Any, above: float = -math.inf) -> bool:
    return isinstance(value, int | float) and math.isfinite(value) and above < value <= ROUNDING


def _bare(answer: Answer) -> Iterator[str]:
    texts = [event.data for event in answer.stream.events] if answer.streamed else [answer.exchange.text]
    for text in texts:
        try:
            if text != DONE:
                json.loads(text, parse_constant=_refuse)
        except _BareConstantError as error:
            yield f"the JSON holds a bare {error}"
            return
        except ValueError:
            return  # no JSON at all: the judges of schema and framing say so


class _BareConstantError(Exception):
    pass


def _refuse(constant: str) -> NoReturn:
    raise _BareConstantError(constant)
