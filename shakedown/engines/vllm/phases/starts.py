"""What a log tells of one start, so far."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from shakedown.engines.vllm.phases.bars import Progress
from shakedown.engines.vllm.phases.facts import Facts
from shakedown.engines.vllm.phases.names import Phase, PhaseName


class Beginning(Enum):
    """What a start began with."""

    SERVER = "the server"
    ENGINE = "the engine, again, under a server that went on"
    MIDDLE = "something later: the log was read from its middle"


@dataclass(frozen=True, slots=True)
class RankState:
    """One worker: the process of one rank.

    Attributes:
        rank: among all; None until a line has told it.
        name: as vLLM calls it (``Worker_TP1``), or Ray (``RayWorkerProc``).
        pid: process id on its node.
        ip: its node; None for the node of the engine: the head.
        phases: those that its own lines told of. Ray may keep lines back, or leave out those that another rank has
            written before (``RAY_DEDUP_LOGS``), so that these can be behind the truth.
        progress: in its present phase; bars are drawn by rank 0 alone.
    """

    rank: int | None
    name: str
    pid: int
    ip: str | None
    phases: tuple[Phase, ...]
    progress: Progress | None

    @property
    def now(self) -> Phase | None:
        """The phase it entered last."""
        return self.phases[-1] if self.phases else None


@dataclass(frozen=True, slots=True)
class Start:
    """One start of the server, or of its engine.

    Attributes:
        beginning: what it began with.
        began_at: seconds since the epoch; None where lines were timed by their stamps, which have no year.
        first_stamp: of its first line, as written (``12-01 03:01:22``); "" where it has none.
        phases: those that showed themselves, in order, each from the first rank that entered it.
        progress: how far the present phase is; None where nothing is counted.
        weights: last count of shards, tensors or bytes that were loaded; None where no bar was drawn.
        facts: what else was told.
        ranks: the workers, by the words that tell them apart (``pid=9, ip=10.0.0.2``).
    """

    beginning: Beginning
    began_at: float | None
    first_stamp: str
    phases: tuple[Phase, ...]
    progress: Progress | None
    weights: Progress | None
    facts: Facts
    ranks: Mapping[str, RankState]

    @property
    def version(self) -> str | None:
        """Of the engine, as it names itself; None until it has."""
        return self.facts.version

    @property
    def now(self) -> Phase | None:
        """The phase that was entered last."""
        return self.phases[-1] if self.phases else None

    @property
    def total_s(self) -> float | None:
        """From the first line to ``Application startup complete``, s; None if it never got there or began unseen."""
        if self.now is None or self.now.name is not PhaseName.READY or self.beginning is not Beginning.SERVER:
            return None
        return self.now.started_s

    def phase(self, name: PhaseName) -> Phase | None:
        """That phase, None if it did not show itself."""
        return next((phase for phase in self.phases if phase.name is name), None)
