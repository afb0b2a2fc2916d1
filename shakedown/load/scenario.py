"""The named loads of the perf suite: how many users, how many requests, how long."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from shakedown.load.engine import ClosedLoop, LoadRun, run_load
from shakedown.load.target import Target
from shakedown.load.workload import Shape, compose

PerfProfile = Literal["short", "full"]


@dataclass(frozen=True, slots=True)
class Scenario:
    """One load.

    Attributes:
        name: as ``[[slo]]`` and baselines name it.
        schedule: users and deadline.
        requests: that count; as many as there are users go before them as warm-up and are dropped.
        shape: of every request.
    """

    name: str
    schedule: ClosedLoop
    requests: int
    shape: Shape

    @property
    def conditions(self) -> dict[str, str]:
        """What must be equal for two runs to be equal work."""
        return {
            "concurrency": str(self.schedule.concurrency),
            "requests": str(self.requests),
            "input tokens": str(self.shape.input_tokens),
            "output tokens": str(self.shape.output_tokens),
        }


SHORT = (
    # 30 and 32 requests: about the fewest that a p90 can be told from (29). One shape for both, so that their rates can
    # be compared; it keeps the slowest of deployments below a minute.
    Scenario("chat-c1", ClosedLoop(concurrency=1), requests=30, shape=Shape(64, 16)),
    Scenario("chat-c4", ClosedLoop(concurrency=4), requests=32, shape=Shape(64, 16)),
)
FULL = (
    Scenario("chat-c1", ClosedLoop(concurrency=1, deadline_s=1800), requests=60, shape=Shape(512, 128)),
    # 300 requests: enough for a p99.
    Scenario("chat-c4", ClosedLoop(concurrency=4, deadline_s=1800), requests=300, shape=Shape(512, 128)),
)
PROFILES: dict[PerfProfile, tuple[Scenario, ...]] = {"short": SHORT, "full": FULL}


def scenario(name: str, profile: PerfProfile) -> Scenario:
    """The scenario of that name; KeyError if there is none."""
    return {one.name: one for one in PROFILES[profile]}[name]


def run_scenario(target: Target, scenario: Scenario, seed: int) -> LoadRun:
    """Warm up with the same shape and concurrency, then run.

    First requests of a shape pay for compilation and caches, connections and page faults: tails of whole runs were
    seen to consist of nothing else.

    Raises:
        ServerError: prompts of the asked length could not be made.
    """
    warm_up = scenario.schedule.concurrency
    bodies = compose(target, scenario.shape, warm_up + scenario.requests, seed)
    run_load(target, bodies[:warm_up], replace(scenario.schedule, stagger_s=0.0))
    return run_load(target, bodies[warm_up:], scenario.schedule)
