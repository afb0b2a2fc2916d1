"""Processes that make exercises while the GPU learns from them; each fills a queue of its own."""

from __future__ import annotations

import multiprocessing
import os
import queue
import random
from bisect import bisect
from collections.abc import Iterator, Sequence
from itertools import accumulate
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from shakedown.serving.tasks.randomness import stream
from train import mix
from train.families import ALL
from train.packing import Document, Row, row
from train.plan import Plan
from train.samples import THINKING_SHARE, sample
from train.tokens import Encoder

_AHEAD = 32
_PATIENCE_S = 60.0


class Workers:
    """The processes, as a context; they are ended with it.

    Args:
        plan: of the run.
        part: number of this part, so that no two parts make the same exercises.
        longest: longer documents are passed over, tokens.
    """

    def __init__(self, plan: Plan, *, part: int, longest: int) -> None:
        context = multiprocessing.get_context("spawn")
        self.families = tuple(ALL)
        self._weights: Any = context.Array("d", mix.base(self.families), lock=False)
        self._queues: list[Any] = [context.Queue(_AHEAD) for _ in range(plan.workers)]
        self._processes = [
            context.Process(
                target=_work,
                args=(filled, self._weights, f"{plan.seed}:{part}:{number}", plan.row_tokens, longest, plan.tokenizer),
                daemon=True,
            )
            for number, filled in enumerate(self._queues)
        ]

    def __enter__(self) -> Self:
        for process in self._processes:
            process.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for process in self._processes:
            process.kill()
        for process, filled in zip(self._processes, self._queues, strict=True):
            process.join()
            filled.cancel_join_thread()
            filled.close()

    def weigh(self, weights: Sequence[float]) -> None:
        """Draw families with these weights from now on."""
        self._weights[:] = weights

    def rows(self) -> Iterator[Row]:
        """Rows without end, from each process in turn.

        Raises:
            RuntimeError: a process has ended or makes nothing any more.
        """
        while True:
            for process, filled in zip(self._processes, self._queues, strict=True):
                try:
                    yield filled.get(timeout=_PATIENCE_S)
                except queue.Empty:
                    state = "is stuck" if process.is_alive() else f"ended with {process.exitcode}"
                    raise RuntimeError(f"a process that makes exercises {state}") from None


def documents(rng: random.Random, weights: Sequence[float], encoder: Encoder) -> Iterator[Document]:
    """Encoded exercises without end; the weights may change at any time."""
    families = tuple(ALL)
    while True:
        borders = list(accumulate(weights))
        for _ in range(256):
            family = families[min(bisect(borders, rng.random() * borders[-1]), len(families) - 1)]
            yield encoder.sample(sample(family, rng, thinking=rng.random() < THINKING_SHARE))


def _work(filled: Any, weights: Any, seed: str, length: int, longest: int, tokenizer: Path) -> None:
    os.nice(5)  # the process that feeds the GPU comes first
    gathered: list[Document] = []
    tokens = 0
    for document in documents(stream("training", seed), weights, Encoder(tokenizer)):
        size = len(document[0])
        if size > longest:
            continue
        if tokens + size > length:
            filled.put(row(gathered, length))
            gathered, tokens = [], 0
        gathered.append(document)
        tokens += size
