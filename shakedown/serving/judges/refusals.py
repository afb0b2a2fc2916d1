"""LE: how a request that cannot be served is refused."""

from __future__ import annotations

import re
from collections.abc import Iterator

from shakedown.serving.answer import as_dict, as_str
from shakedown.serving.exchange import Exchange, shortened

IN_SECONDS = 10.0
"""Refusing needs no generation: an answer that takes longer has been queued or computed."""


def refusal_problems(exchange: Exchange, *, limit: int) -> Iterator[str]:
    """LE-03: status 400 within seconds, with a message that names the real limit.

    Args:
        exchange: of a request that is too long.
        limit: the model length that the deployment declares, tokens.
    """
    if exchange.failure:
        yield f"{exchange.failure.kind} after {exchange.elapsed_s:.1f} s: {exchange.failure.detail}"
        return
    if exchange.status != 400:
        yield f"HTTP {exchange.status}, expected 400: {shortened(exchange.text)}"
        return
    if exchange.elapsed_s > IN_SECONDS:
        yield f"refused only after {exchange.elapsed_s:.1f} s"
    message = as_str(as_dict(as_dict(exchange.json).get("error")).get("message"))
    if not message:
        yield f"no error.message: {shortened(exchange.text)}"
    elif str(limit) not in re.findall(r"\d+", message):
        yield f"the message does not name the limit {limit}: {shortened(message)}"
