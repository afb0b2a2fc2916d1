"""The server's own account of its work: token and request counters of ``/metrics``, read before and after a batch."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass

from prometheus_client.parser import text_string_to_metric_families

from shakedown.engines.vllm import wire
from shakedown.errors import ServerError
from shakedown.serving.answer import Answer
from shakedown.serving.client import Client
from shakedown.serving.exchange import shortened
from shakedown.serving.requests import get

SETTLE_S = 5.0
"""Counters are booked when the engine's step ends, which is milliseconds behind the last byte of an answer."""

POLL_S = 0.1


@dataclass(frozen=True, slots=True)
class Work:
    """Tokens and requests, of a server since its start, of a batch, or of the time between two readings."""

    prompt_tokens: int
    generation_tokens: int
    requests: int

    def __sub__(self, other: Work) -> Work:
        return Work(
            self.prompt_tokens - other.prompt_tokens,
            self.generation_tokens - other.generation_tokens,
            self.requests - other.requests,
        )

    def __str__(self) -> str:
        return f"{self.prompt_tokens} prompt tokens, {self.generation_tokens} generated, {self.requests} requests"


@dataclass(frozen=True, slots=True)
class Reading:
    """One look at ``/metrics``.

    Attributes:
        work: since the server started, over all engines and models.
        busy: requests that are running or waiting right now.
    """

    work: Work
    busy: int


def parse_metrics(text: str) -> dict[str, float]:
    """Sum of the samples of every series, over all labels.

    Raises:
        ServerError: the text is not in the exposition format.
    """
    sums: dict[str, float] = {}
    try:
        for family in text_string_to_metric_families(text):
            for sample in family.samples:
                sums[sample.name] = sums.get(sample.name, 0.0) + sample.value
    except ValueError as error:
        raise ServerError(f"{wire.METRICS} is not in the exposition format: {error}") from error
    return sums


async def read(client: Client) -> Reading:
    """Ask ``/metrics``.

    Raises:
        ServerError: it does not answer, cannot be parsed, or lacks one of the series; all that are lacking are named.
    """
    exchange = await client.send("metrics", get(wire.METRICS))
    if exchange.problem:
        raise ServerError(f"GET {wire.METRICS}: {exchange.problem}")
    sums = parse_metrics(exchange.text)
    wanted = (
        wire.PROMPT_TOKENS,
        wire.GENERATION_TOKENS,
        wire.REQUEST_SUCCESS,
        wire.REQUESTS_RUNNING,
        wire.REQUESTS_WAITING,
    )
    missing = [name for name in wanted if name not in sums]
    if missing:
        raise ServerError(f"{wire.METRICS} lacks {', '.join(missing)}: {shortened(exchange.text, 80)}")
    prompt, generation, requests, running, waiting = (int(sums[name]) for name in wanted)
    return Reading(Work(prompt, generation, requests), running + waiting)


async def read_at_rest(client: Client) -> Reading:
    """A reading of a server that does nothing and has booked all it did, or the last one after :data:`SETTLE_S`.

    Raises:
        ServerError: as :func:`read`.
    """
    deadline = time.monotonic() + SETTLE_S
    last = await read(client)
    while time.monotonic() < deadline:
        await asyncio.sleep(POLL_S)
        reading = await read(client)
        if not reading.busy and reading == last:
            break
        last = reading
    return last


async def read_settled(client: Client, before: Work, expected: Work) -> Reading:
    """What was counted since ``before``, once it is no less than expected and the server rests, or after
    :data:`SETTLE_S` whatever it is.

    Raises:
        ServerError: as :func:`read`.
    """
    deadline = time.monotonic() + SETTLE_S
    last: Reading | None = None
    while True:
        reading = await read(client)
        counted = reading.work - before
        complete = counted.generation_tokens >= expected.generation_tokens and counted.requests >= expected.requests
        if (complete and not reading.busy and reading == last) or time.monotonic() > deadline:
            return Reading(counted, reading.busy)
        last = reading
        await asyncio.sleep(POLL_S)


def work_of(answers: Sequence[Answer]) -> Work:
    """The work that the answers themselves account for in their usage."""
    return Work(
        sum(answer.prompt_tokens or 0 for answer in answers),
        sum(answer.completion_tokens or 0 for answer in answers),
        len(answers),
    )
