"""Time: no token before it is due, none much later, no drift; slack is upwards only."""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest

from selftests.simulator.talk import CHAT, SUM, metric
from shakedown.simulator.run import running_simulator

LATE_S = 0.05
STALLED_S = 1.0
"""How long the machine may keep either process from running at any one moment; a median has no such excuse."""
PROBE_S = 0.005


@dataclass
class Stamped:
    """Seconds from just before the request was written to the arrival of every event."""

    role: float = 0.0
    tokens: list[float] = field(default_factory=list)


@dataclass
class Machine:
    """How late this machine wakes whoever sleeps: the slack that a test must give it, upwards."""

    lags: list[float] = field(default_factory=list)

    @property
    def slack(self) -> float:
        return LATE_S + 10 * max(self.lags)


@asynccontextmanager
async def watched() -> AsyncIterator[Machine]:
    """The machine while a test runs."""
    machine = Machine()

    async def probe() -> None:
        while True:
            start = time.perf_counter()
            await asyncio.sleep(PROBE_S)
            machine.lags.append(time.perf_counter() - start - PROBE_S)

    task = asyncio.create_task(probe())
    try:
        await asyncio.sleep(0)
        yield machine
    finally:
        task.cancel()


async def stamped(client: httpx.AsyncClient, n: int) -> Stamped:
    """One stream of n tokens."""
    body: dict[str, Any] = {**SUM, "stream": True, "max_tokens": n, "ignore_eos": True, "return_token_ids": True}
    result, start = Stamped(), time.perf_counter()
    async with client.stream("POST", CHAT, json=body) as response:
        async for line in response.aiter_lines():
            if '"role"' in line:
                result.role = time.perf_counter() - start
            elif line.startswith("data: {"):
                result.tokens.append(time.perf_counter() - start)
    return result


async def test_tokens_leave_on_an_absolute_schedule() -> None:
    ttft, itl, n = 0.1, 0.004, 200
    with running_simulator(ttft_s=ttft, itl_s=itl) as simulator:
        async with httpx.AsyncClient(base_url=simulator.base_url) as client, watched() as machine:
            seen = await stamped(client, n)
    assert len(seen.tokens) == n
    late = [arrival - (ttft + i * itl) for i, arrival in enumerate(seen.tokens)]
    assert min(late) >= 0
    assert max(late) < STALLED_S
    assert statistics.median(late) < machine.slack
    assert statistics.median(late[-50:]) - statistics.median(late[:50]) < machine.slack


async def test_the_role_comes_at_once_and_is_no_token() -> None:
    with running_simulator(ttft_s=1.0, itl_s=0.001) as simulator:
        async with httpx.AsyncClient(base_url=simulator.base_url) as client, watched() as machine:
            seen = await stamped(client, 3)
    assert seen.role < machine.slack
    assert seen.tokens[0] >= 1.0


async def test_tokens_of_a_chunk_come_together() -> None:
    with running_simulator(ttft_s=0.05, itl_s=0.01, tokens_per_chunk=5) as simulator:
        async with httpx.AsyncClient(base_url=simulator.base_url) as client, watched() as machine:
            seen = await stamped(client, 23)
    late = [arrival - (0.05 + chunk * 0.05) for chunk, arrival in enumerate(seen.tokens)]
    assert len(late) == 5
    assert min(late) >= 0
    assert statistics.median(late) < machine.slack


async def test_a_whole_answer_comes_when_the_last_token_would() -> None:
    body = {**SUM, "max_tokens": 30, "ignore_eos": True}
    due = 0.1 + 29 * 0.01
    with running_simulator(ttft_s=0.1, itl_s=0.01) as simulator:
        async with httpx.AsyncClient(base_url=simulator.base_url) as client, watched() as machine:
            start = time.perf_counter()
            await client.post(CHAT, json=body)
            elapsed = time.perf_counter() - start
    assert due <= elapsed < due + machine.slack


async def test_those_who_find_no_place_wait_for_one() -> None:
    ttft, itl, n = 0.1, 0.01, 11
    alone = ttft + (n - 1) * itl
    with running_simulator(ttft_s=ttft, itl_s=itl, max_concurrency=2) as simulator:
        async with httpx.AsyncClient(base_url=simulator.base_url) as client, watched() as machine:
            streams = await asyncio.gather(*(stamped(client, n) for _ in range(4)))
            page = (await client.get("/metrics")).text
    first = sorted(stream.tokens[0] for stream in streams)
    assert all(ttft <= arrival < ttft + machine.slack for arrival in first[:2])
    assert all(alone + ttft <= arrival < alone + ttft + 2 * machine.slack for arrival in first[2:])
    queued = metric(page, "vllm:request_queue_time_seconds_sum")
    assert 0 < queued < 2 * (alone + machine.slack)


async def test_the_servers_own_histograms_agree_with_the_client() -> None:
    with running_simulator(ttft_s=0.1, itl_s=0.002) as simulator:
        async with httpx.AsyncClient(base_url=simulator.base_url) as client, watched():
            streams = [await stamped(client, 51) for _ in range(3)]
            page = (await client.get("/metrics")).text
    assert 0.3 <= metric(page, "vllm:time_to_first_token_seconds_sum") <= sum(s.tokens[0] for s in streams)
    assert metric(page, "vllm:e2e_request_latency_seconds_sum") >= 0.6
    assert metric(page, "vllm:time_to_first_token_seconds_count") == 3


@pytest.mark.parametrize(("fault", "first", "last"), [("slow-first-token", 0.2, 0.245), ("slow-decode", 0.05, 0.23)])
async def test_slow_faults_slow_down_one_thing(fault: str, first: float, last: float) -> None:
    with running_simulator(ttft_s=0.05, itl_s=0.005, fault=fault) as simulator:
        async with httpx.AsyncClient(base_url=simulator.base_url) as client, watched() as machine:
            seen = await stamped(client, 10)
    assert first <= seen.tokens[0] < first + machine.slack
    assert last <= seen.tokens[-1] < last + machine.slack


async def test_late_end_holds_a_finished_stream_open_and_delays_no_token() -> None:
    with running_simulator(ttft_s=0.05, itl_s=0.005, fault="late-end") as simulator:
        async with httpx.AsyncClient(base_url=simulator.base_url) as client, watched() as machine:
            start = time.perf_counter()
            seen = await stamped(client, 10)
            closed = time.perf_counter() - start
    assert 0.095 <= seen.tokens[-1] < 0.095 + machine.slack
    assert closed >= seen.tokens[-1] + 0.2 - 0.001
