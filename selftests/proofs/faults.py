"""Every declared fault of every mechanism, and the clean runs in which no check may fail."""

from __future__ import annotations

from selftests.proofs import (
    bundle,
    bundle_active,
    bundle_drift,
    bundle_environment,
    bundle_memory,
    bundle_network,
    bundle_platform,
    embedded,
    simulator_perf,
    simulator_serving,
)
from selftests.proofs.model import Clean, Fault, Pair
from selftests.proofs.observe import healthy, recorded
from shakedown.outcomes import Stage

FAULTS: tuple[Fault, ...] = (
    *bundle.FAULTS,
    *bundle_active.FAULTS,
    *bundle_drift.FAULTS,
    *bundle_environment.FAULTS,
    *bundle_memory.FAULTS,
    *bundle_network.FAULTS,
    *bundle_platform.FAULTS,
    *simulator_serving.FAULTS,
    *simulator_perf.FAULTS,
    *embedded.FAULTS,
)


def _unchanged(name: str, pair: Pair, stage: Stage) -> Clean:
    """A recorded pair that says what it said."""
    options = (*healthy("bundle", stage, pair), "--golden", str(recorded(pair, stage)[1]))
    return Clean(f"clean-{name}-{stage}", "bundle", "infra", stage, options)


CLEAN: tuple[Clean, ...] = (
    *(_unchanged("bundle", "embedded", stage) for stage in Stage),
    *(_unchanged("gb10", "gb10", stage) for stage in (Stage.HOSTS, Stage.RAY)),
    Clean("clean-simulator-serving", "simulator", "serving", "serving", healthy("simulator", Stage.SERVING)),
    Clean("clean-simulator-perf", "simulator", "perf", "serving", healthy("simulator", Stage.SERVING), baseline=True),
    *(
        Clean(f"clean-embedded-{stage}", "embedded", "infra", stage, (*healthy("embedded", stage), "--tier", "1"))
        for stage in (Stage.HOSTS, Stage.RAY)
    ),
    Clean("clean-embedded-serving", "embedded", "serving", "serving", healthy("embedded", Stage.SERVING)),
)


def fault(name: str) -> Fault:
    """The declared fault of that name."""
    return next(one for one in FAULTS if one.name == name)
