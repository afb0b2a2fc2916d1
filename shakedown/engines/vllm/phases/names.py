"""The phases of a start, in their order."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class PhaseName(Enum):
    """Phases in the order of a start; the value is their name for people.

    No start shows all of them: eager mode has no compilation and no graphs, a processor has no NCCL, only newer
    versions estimate the graphs' memory.
    """

    PROCESS = "API process"
    CONFIG = "configuration"
    ENGINE = "engine process"
    RAY = "Ray attach and placement group"
    WORKERS = "start of the workers"
    C10D = "distributed rendezvous"
    NCCL = "NCCL communicators"
    GROUPS = "parallel groups"
    WEIGHTS = "weights"
    MODEL = "model on the device"
    PROFILE = "memory profiling"
    COMPILE = "compilation"
    GRAPH_MEMORY = "estimate of the graphs' memory"
    KV_CACHE = "KV cache"
    WARMUP = "kernel warm-up"
    GRAPHS = "graph capture"
    ENGINE_READY = "engine ready"
    API = "API server"
    READY = "answering"

    @property
    def order(self) -> int:
        """Position in a start, 0 first."""
        return _ORDER[self]


_ORDER = {name: place for place, name in enumerate(PhaseName)}


@dataclass(frozen=True, slots=True)
class Phase:
    """One phase of a start.

    Attributes:
        name: which.
        started_s: since the first line of this start, s.
        ended_s: beginning of the next phase that showed itself, s; None while it lasts.
    """

    name: PhaseName
    started_s: float
    ended_s: float | None

    @property
    def took_s(self) -> float | None:
        """Duration, s; None while it lasts."""
        return None if self.ended_s is None else self.ended_s - self.started_s
