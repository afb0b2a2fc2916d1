"""The part of the server that takes time: places in the batch, a queue, and tokens on an absolute schedule."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from http import HTTPStatus

from shakedown.simulator.clock import sleep_until
from shakedown.simulator.errors import ApiError
from shakedown.simulator.fault import Fault
from shakedown.simulator.job import Job
from shakedown.simulator.metrics import Metrics
from shakedown.simulator.settings import Timing


class Engine:
    """Serves jobs; all of them run at the same pace, however many there are.

    Attributes:
        running: jobs that have a place, in order of admission.
        dead: nothing is generated any more.
    """

    def __init__(self, timing: Timing, max_concurrency: int, metrics: Metrics, fault: Fault) -> None:
        self._timing = timing
        self._places = asyncio.Semaphore(max_concurrency)
        self._metrics = metrics
        self._fault = fault
        self.running: list[Job] = []
        self.dead = False

    async def admit(self, job: Job) -> None:
        """Let a job in, before anything is promised to the client.

        Raises:
            ApiError: the engine cannot generate.
        """
        await self._fault.before_generation(self, job)
        if self.dead:
            raise ApiError(HTTPStatus.INTERNAL_SERVER_ERROR, "EngineCore encountered an issue.")

    async def steps(self, job: Job) -> AsyncGenerator[range, None]:
        """Positions of the tokens that are due, each range at its time; choices advance together.

        Raises:
            ApiError: the engine cannot generate.
        """
        async with self._place(job):
            step = self._timing.tokens_per_chunk
            delay = 0.0
            for start in range(0, job.length, step):
                delay += self._fault.stall_s(self, job, start)
                await sleep_until(job.scheduled + self._timing.ttft_s + start * self._timing.itl_s + delay)
                self._fault.during_generation(self, job, start)
                positions = range(start, min(start + step, job.length))
                self._count(job, positions)
                yield positions

    async def finish(self, job: Job) -> None:
        """All tokens at once, at the time of the last.

        Raises:
            ApiError: the engine cannot generate.
        """
        async with self._place(job):
            step = self._timing.tokens_per_chunk
            starts = range(0, job.length, step)
            delay = sum(self._fault.stall_s(self, job, start) for start in starts)
            for start in sorted({0, starts[-1]}):
                due = job.scheduled + self._timing.ttft_s + start * self._timing.itl_s
                await sleep_until(due + (delay if start else 0.0))
                self._fault.during_generation(self, job, start)
                self._count(job, range(job.tokens_out, start + step if start < starts[-1] else job.length))

    @asynccontextmanager
    async def _place(self, job: Job) -> AsyncIterator[None]:
        """A place in the batch, waited for in order of arrival; however the job ends, it is counted once."""
        loop = asyncio.get_running_loop()
        waits = self._places.locked()
        self._metrics.waiting.inc()
        try:
            await self._places.acquire()
        except asyncio.CancelledError:
            self._metrics.finished["abort"].inc()
            raise
        finally:
            self._metrics.waiting.dec()
        job.scheduled = loop.time() if waits else job.arrived
        self._metrics.queued.observe(job.scheduled - job.arrived)
        self._metrics.running.inc()
        self.running.append(job)
        try:
            yield
        except GeneratorExit:
            self._metrics.finished["abort"].inc()
            raise
        except asyncio.CancelledError:
            self._metrics.finished["abort"].inc()
            raise
        except Exception:
            self._metrics.finished["error"].inc()
            raise
        else:
            self._count_finished(job, loop.time())
        finally:
            self.running.remove(job)
            self._metrics.running.dec()
            self._places.release()

    def _count(self, job: Job, positions: range) -> None:
        now = asyncio.get_running_loop().time()
        if job.tokens_out == 0 and positions.start == 0:
            self._metrics.prompt_tokens.inc(len(job.prompt_ids))
            self._metrics.cache_queries.inc(len(job.prompt_ids))
            self._metrics.first_token.observe(now - job.arrived)
            self._metrics.prefill.observe(now - job.scheduled)
        else:
            for _ in positions:
                self._metrics.inter_token.observe((now - job.last_step) / len(positions))
        new = sum(len(output.ids[positions.start : positions.stop]) for output in job.outputs)
        self._metrics.generation_tokens.inc(self._fault.counted(new, first=positions.start == 0))
        job.tokens_out = positions.stop
        job.last_step = now

    def _count_finished(self, job: Job, now: float) -> None:
        generated = sum(len(output.ids) for output in job.outputs)
        first_token = job.scheduled + self._timing.ttft_s
        self._metrics.end_to_end.observe(now - job.arrived)
        self._metrics.decode.observe(max(0.0, now - first_token))
        self._metrics.inference.observe(now - job.scheduled)
        self._metrics.request_prompt.observe(len(job.prompt_ids))
        self._metrics.request_generation.observe(generated)
        if job.length > 1:
            self._metrics.per_token.observe(max(0.0, now - first_token) / (job.length - 1))
        for output in job.outputs:
            self._metrics.finished[output.finish_reason].inc()
