"""How long a phase may show no sign of life before the launch counts as standing still."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import inf

from shakedown.engines.vllm.phases import PhaseName


@dataclass(frozen=True, slots=True)
class Limit:
    """Of one phase.

    Attributes:
        quiet_s: without any sign of life.
        busy_s: with no other sign than processor time or lines that report no progress: work that is under way shows
            them, and so do NCCL and vLLM's queues, which spin while they wait. Where both limits are equal,
            they excuse nothing.
        carries: traffic on the fabric and memory that fills belong to the launch; where ranks only look for each other,
            they are somebody else's.
    """

    quiet_s: float
    busy_s: float
    carries: bool = True


STANDARD: Mapping[PhaseName, Limit] = {
    PhaseName.PROCESS: Limit(120, 600),  # imports, from a cold or a network disk
    PhaseName.CONFIG: Limit(120, 600),
    PhaseName.ENGINE: Limit(120, 600),
    PhaseName.RAY: Limit(30, 120, carries=False),  # a placement group stands in a second, or never
    PhaseName.WORKERS: Limit(60, 600, carries=False),  # imports again, on every node
    PhaseName.C10D: Limit(30, 120, carries=False),  # a rank may still import while the other waits for it
    PhaseName.NCCL: Limit(60, 60, carries=False),  # NCCL spins
    PhaseName.GROUPS: Limit(60, 300),
    PhaseName.WEIGHTS: Limit(60, 900),
    PhaseName.MODEL: Limit(120, 900),  # weights are repacked for the kernels, on the processor
    PhaseName.PROFILE: Limit(120, 900),  # a forward pass, which tunes kernels
    PhaseName.COMPILE: Limit(600, 3600),
    PhaseName.GRAPH_MEMORY: Limit(120, 600),
    PhaseName.KV_CACHE: Limit(120, 600),
    PhaseName.WARMUP: Limit(120, 900),
    PhaseName.GRAPHS: Limit(120, 300),
    PhaseName.ENGINE_READY: Limit(60, 300),
    PhaseName.API: Limit(60, 300),
    PhaseName.READY: Limit(60, 300),
}
"""Ours, from what healthy launches of two GB10 machines show; phases with a bar have `ITEMS` besides."""

ITEMS = 4
"""Times the usual time of an item that one may take before it counts as standing still."""

HEARTBEATS = re.compile(
    r"No available shared memory broadcast block|Waiting for creating a placement group|"
    r"Waiting for \d+ local|still waiting|Unable to connect|Retrying|retry|\bGET /(?:health|metrics|v1/models)\b",
    re.IGNORECASE,
)
"""Lines that somebody who waits writes again and again, and those of a server that is asked by us."""


@dataclass(frozen=True, slots=True)
class Limits:
    """All that decides when silence counts.

    Attributes:
        phases: limit of each phase.
        reading_bytes_per_s: rate from which on reading is a sign of life: below it a checkpoint takes days.
        fabric_bytes_per_s: the same of the fabric, above what Ray's health checks, its logs and ssh move.
        processors: the same of processor time, in processors: what idle processes of Ray and vLLM use stays below.
        memory_bytes: by how much MemAvailable must fall below its lowest to be a sign of life.
        stopped_s: for how long a process must be in state T: a debugger that looks at a stack stops it for a moment.
        gone_s: for how long a process must be gone, so that what nodes see at once is known at once.
        settle_s: how long the streams may lag behind each other: what ended without a word is told after it.
        sampled_s: age from which on counters say nothing of now.
        heartbeats: lines that only say that something still waits.
    """

    phases: Mapping[PhaseName, Limit] = field(default_factory=lambda: STANDARD)
    reading_bytes_per_s: float = 64 * 2**10
    fabric_bytes_per_s: float = 2**20
    processors: float = 0.1
    memory_bytes: float = 64 * 2**20
    stopped_s: float = 1.0
    gone_s: float = 0.1
    settle_s: float = 5.0
    sampled_s: float = 15.0
    heartbeats: re.Pattern[str] = HEARTBEATS

    def of(self, phase: PhaseName, item_s: float | None = None) -> Limit:
        """The limit of a phase, with what an item of it takes by now, where it has items."""
        limit = self.phases.get(phase, STANDARD[phase])
        slack = ITEMS * (item_s or 0.0)
        return Limit(max(limit.quiet_s, slack), max(limit.busy_s, slack), limit.carries)

    def unheard(self) -> Limits:
        """For a server of whose log nothing is known: whatever moves may be any phase, and excuses everything."""
        quiet_s = self.of(PhaseName.PROCESS).quiet_s
        return replace(self, phases={PhaseName.PROCESS: Limit(quiet_s, inf)})
