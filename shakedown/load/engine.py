"""The load engine: sends requests as a schedule says and keeps the bytes with their stamps. It judges nothing."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import httpx

from shakedown.load.answer import RawAnswer, read_answer
from shakedown.load.probe import ClientHealth, watched
from shakedown.load.records import RequestRecord
from shakedown.load.stream import Chunk
from shakedown.load.target import Target

CONNECT_S = 10.0
IDLE_S = 2.0  # well below the 5 s after which uvicorn, and so vLLM, closes an idle connection
SILENCE_S = 60.0
"""No byte for this long ends a request: ten times the slowest first token that anybody would accept, and no more."""


@dataclass(frozen=True, slots=True)
class ClosedLoop:
    """A fixed number of users, each sending its next request as soon as its last one has ended.

    Attributes:
        concurrency: users.
        stagger_s: each user starts this much later than the one before, s: a start of all at once measures the
            queue that it makes itself.
        deadline_s: the whole run is cut off then, s.
    """

    concurrency: int
    stagger_s: float = 0.05
    deadline_s: float = 300.0


@dataclass(frozen=True, slots=True)
class LoadRun:
    """Everything one run of load left behind.

    Attributes:
        asked: requests in the workload; fewer records than that means that the deadline cut the run.
        records: one for each request that was begun, by index.
        health: of the client.
        started, ended: of the run, ``time.perf_counter()``, s.
    """

    asked: int
    records: tuple[RequestRecord, ...]
    health: ClientHealth
    started: float
    ended: float


def run_load(target: Target, bodies: Sequence[Mapping[str, Any]], schedule: ClosedLoop) -> LoadRun:
    """Send all bodies to ``/v1/chat/completions`` and wait for the last answer. For code without an event loop.

    The loop is of its own, so that one of a test framework is neither used nor replaced.
    """
    with asyncio.Runner(loop_factory=asyncio.new_event_loop) as runner:
        return runner.run(drive(target, bodies, schedule))


async def drive(target: Target, bodies: Sequence[Mapping[str, Any]], schedule: ClosedLoop) -> LoadRun:
    """`run_load` for code that has an event loop; everything else in that loop disturbs the stamps."""
    health = ClientHealth()
    raw: list[RawAnswer] = []
    async with _client(target, schedule.concurrency) as client, watched(health):
        started = time.perf_counter()
        await _closed_loop(client, target, bodies, schedule, raw)
        ended = time.perf_counter()
    records = sorted((read_answer(answer) for answer in raw), key=lambda record: record.index)
    return LoadRun(asked=len(bodies), records=tuple(records), health=health, started=started, ended=ended)


def _client(target: Target, concurrency: int) -> httpx.AsyncClient:
    return httpx.AsyncClient(
        base_url=target.base_url,
        headers=target.headers,
        timeout=httpx.Timeout(SILENCE_S, connect=CONNECT_S, pool=None),
        limits=httpx.Limits(max_connections=None, max_keepalive_connections=concurrency, keepalive_expiry=IDLE_S),
        trust_env=False,  # a proxy from the environment would be measured in place of the server
    )


async def _closed_loop(
    client: httpx.AsyncClient,
    target: Target,
    bodies: Sequence[Mapping[str, Any]],
    schedule: ClosedLoop,
    raw: list[RawAnswer],
) -> None:
    waiting = iter(enumerate(bodies))
    users = [
        asyncio.create_task(_user(client, target, waiting, schedule.stagger_s * place, raw))
        for place in range(schedule.concurrency)
    ]
    try:
        _, late = await asyncio.wait(users, timeout=schedule.deadline_s)
    finally:
        for user in users:
            user.cancel()
    await asyncio.gather(*late, return_exceptions=True)
    for user in users:
        if not user.cancelled():
            user.result()


async def _user(
    client: httpx.AsyncClient,
    target: Target,
    waiting: Iterator[tuple[int, Mapping[str, Any]]],
    delay_s: float,
    raw: list[RawAnswer],
) -> None:
    await asyncio.sleep(delay_s)
    for index, body in waiting:
        answer = RawAnswer(index=index, scheduled=time.perf_counter(), choices=int(body.get("n", 1)))
        raw.append(answer)
        await _exchange(client, {"model": target.model, **body}, answer)


async def _exchange(client: httpx.AsyncClient, body: Mapping[str, Any], answer: RawAnswer) -> None:
    async def trace(event: str, _: Mapping[str, Any]) -> None:
        if event == "http11.send_request_headers.started":
            answer.sent = time.perf_counter()
        elif event == "connection.connect_tcp.started":
            answer.connection_reused = False
        elif event == "http11.receive_response_headers.complete":
            answer.headers = time.perf_counter()

    request = client.build_request("POST", "/v1/chat/completions", json=body, extensions={"trace": trace})
    try:
        response = await client.send(request, stream=True)
        answer.http_status = response.status_code
        try:
            async for data in response.aiter_raw():
                answer.chunks.append(Chunk(time.perf_counter(), data))
        finally:
            await response.aclose()
    except httpx.HTTPError as error:
        answer.trouble = f"{type(error).__name__}: {error}".removesuffix(": ")
    except asyncio.CancelledError:
        answer.cancelled = True
        answer.trouble = "cut off by the deadline of the run"
        raise
    finally:
        answer.ended = time.perf_counter()
