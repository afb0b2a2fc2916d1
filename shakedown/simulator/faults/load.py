"""Slow, or wrong only when there is company."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from http import HTTPStatus

from shakedown.simulator.errors import ApiError
from shakedown.simulator.fault import Event, Fault
from shakedown.simulator.job import Batch, Job
from shakedown.simulator.paths import DONE
from shakedown.simulator.settings import Settings

_COMPANY = 3
_LOST_OF = 30
_SLOWER = 4
_STALL_S = 0.5
_LATE_END_S = 0.2


class SlowFirstToken(Fault):
    """Prefill takes four times as long."""

    name = "slow-first-token"
    summary = "the first token comes four times as late"

    def configure(self, settings: Settings) -> Settings:
        """Nothing else changes."""
        timing = replace(settings.timing, ttft_s=settings.timing.ttft_s * _SLOWER)
        return replace(settings, timing=timing)


class SlowDecode(Fault):
    """Decoding takes four times as long."""

    name = "slow-decode"
    summary = "tokens after the first come four times as slowly"

    def configure(self, settings: Settings) -> Settings:
        """Nothing else changes."""
        return replace(settings, timing=replace(settings.timing, itl_s=settings.timing.itl_s * _SLOWER))


class ErrorsUnderLoad(Fault):
    """Late failures inside a stream that began with 200: easily taken for a short success."""

    name = "errors-under-load"
    summary = "with three or more requests running every third one fails after its first token"
    source = "vllm-project/vllm#57519"

    def __init__(self) -> None:
        self._in_company = 0

    def during_generation(self, engine: Batch, job: Job, position: int) -> None:
        """Chosen at the first token, failed at the next."""
        if position == 0 and len(engine.running) >= _COMPANY:
            self._in_company += 1
            if self._in_company % 3 == 0:
                job.marks.add(self.name)
        elif position and self.name in job.marks:
            raise ApiError(HTTPStatus.INTERNAL_SERVER_ERROR, "EngineCore encountered an issue.")


class RequestsLost(Fault):
    """Rare enough to be taken for an accident by everybody who sees one."""

    name = "requests-lost"
    summary = "with three or more requests running every thirtieth is answered with 500"
    source = "vllm-project/vllm#24495"

    def __init__(self) -> None:
        self._in_company = 0

    async def before_generation(self, engine: Batch, job: Job) -> None:
        """Before the status is sent."""
        del job
        self._in_company += len(engine.running) >= _COMPANY
        if self._in_company == _LOST_OF:
            self._in_company = 0
            raise ApiError(HTTPStatus.INTERNAL_SERVER_ERROR, "EngineCore encountered an issue.")


class StallUnderConcurrency(Fault):
    """Preemption: everything waits in the middle of a stream."""

    name = "stall-under-concurrency"
    summary = "with three or more requests running each of them stands still once, for half a second"

    def stall_s(self, engine: Batch, job: Job, position: int) -> float:
        """Once, after the fourth token."""
        if position >= 4 and len(engine.running) >= _COMPANY and self.name not in job.marks:
            job.marks.add(self.name)
            return _STALL_S
        return 0.0


class OneAtATime(Fault):
    """No batch: a second request waits until the first has ended."""

    name = "one-at-a-time"
    summary = "requests are worked on one after the other, as with --max-num-seqs 1"

    def configure(self, settings: Settings) -> Settings:
        """Nothing else changes."""
        return replace(settings, max_concurrency=1)


class LateEnd(Fault):
    """The answer is complete, and the stream stays open: a client that keeps to its connection cannot go on."""

    name = "late-end"
    summary = "streams stay open for 0.2 s after their last token"
    source = "vllm-project/vllm#55508"

    async def events(self, path: str, events: AsyncIterator[Event]) -> AsyncIterator[Event]:
        """The last event waits."""
        del path
        async for event in events:
            if event == DONE:
                await asyncio.sleep(_LATE_END_S)
            yield event
