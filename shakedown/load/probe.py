"""Whether the client itself was fit to measure: event-loop lag, garbage collections, processor time."""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from typing import Literal

INTERVAL_S = 0.005
"""Between two looks at the loop: 200 a second cost about 1 % of a core, see any stall that touches a stamp, and give a
run of half a second enough of them for a p95."""


@dataclass(slots=True)
class ClientHealth:
    """What the client saw of itself while it measured.

    Attributes:
        lags: how much later than asked the event loop woke the probe, s, one every `INTERVAL_S`. A stamp can be late
            by as much. The loop's timer rounds up to 1 ms, so an idle client shows up to 1 ms.
        gc_pauses: duration of each garbage collection, s.
        cpu_s: processor time of this process during the run, s.
    """

    lags: list[float] = field(default_factory=list)
    gc_pauses: list[float] = field(default_factory=list)
    cpu_s: float = 0.0


@asynccontextmanager
async def watched(health: ClientHealth) -> AsyncIterator[None]:
    """Fill ``health`` while the body runs."""
    cpu = time.process_time()
    probe = asyncio.create_task(_probe_loop(health.lags))
    try:
        with _quiet_collector(health.gc_pauses):
            yield
    finally:
        probe.cancel()
        with suppress(asyncio.CancelledError):
            await probe
        health.cpu_s = time.process_time() - cpu


async def _probe_loop(lags: list[float]) -> None:
    while True:
        asked = time.perf_counter() + INTERVAL_S
        await asyncio.sleep(INTERVAL_S)
        lags.append(max(0.0, time.perf_counter() - asked))


@contextmanager
def _quiet_collector(pauses: list[float]) -> Iterator[None]:
    """Everything alive now is kept out of the collector's sight, so that a collection stays short; pauses are noted."""
    started = 0.0

    def note(phase: Literal["start", "stop"], _: dict[str, int]) -> None:
        nonlocal started
        if phase == "start":
            started = time.perf_counter()
        else:
            pauses.append(time.perf_counter() - started)

    gc.collect()
    gc.freeze()
    gc.callbacks.append(note)
    try:
        yield
    finally:
        gc.callbacks.remove(note)
        gc.unfreeze()
