"""Every declared fault of every mechanism, and the clean runs in which no check may fail."""

from __future__ import annotations

from dataclasses import dataclass

from selftests.proofs import bundle, embedded, simulator_perf, simulator_serving
from selftests.proofs.model import Fault
from shakedown.outcomes import Stage
from shakedown.simulator.deployment import FILE as SIMULATED_FILE
from shakedown.simulator.deployment import bundle_of

FAULTS: tuple[Fault, ...] = (
    *bundle.FAULTS,
    *simulator_serving.FAULTS,
    *simulator_perf.FAULTS,
    *embedded.FAULTS,
)


@dataclass(frozen=True, slots=True)
class Clean:
    """A healthy run: every check of the suite that applies passes, none fails."""

    name: str
    mechanism: str
    suite: str
    stage: str
    options: tuple[str, ...]


CLEAN: tuple[Clean, ...] = (
    *(
        Clean(
            f"clean-bundle-{stage}",
            "bundle",
            "infra",
            stage,
            ("--deployment", str(SIMULATED_FILE), "--replay", str(bundle_of(stage))),
        )
        for stage in Stage
    ),
    Clean("clean-simulator-serving", "simulator", "serving", "serving", ("--deployment", "simulated")),
    Clean("clean-simulator-perf", "simulator", "perf", "serving", ("--deployment", "simulated")),
)


def fault(name: str) -> Fault:
    """The declared fault of that name."""
    return next(one for one in FAULTS if one.name == name)
