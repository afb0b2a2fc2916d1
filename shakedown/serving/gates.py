"""A rate is decided by a declared test, never by trying again until it is green.

Two stages: a small first one decides nearly always; only when it fails, a larger one with fresh items decides. A server
is failed when both fail. The numbers are exact binomial sums over independent items; items of one phrasing are less
than independent, so the real false-alarm rate is somewhat above the printed one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True, slots=True)
class StageRule:
    """One stage: ``n`` items, failed when at most ``fail_at`` of them are right."""

    n: int
    fail_at: int

    def fails(self, right: int) -> bool:
        """Whether this many right answers fail the stage."""
        return right <= self.fail_at

    def chance(self, p: float) -> float:
        """Probability that a server with true rate ``p`` fails the stage."""
        from scipy.stats import binom  # a second of imports, which only a run that decides something needs

        return float(binom.cdf(self.fail_at, self.n, p))


@dataclass(frozen=True)
class TwoStageGate:
    """A declared test of one rate.

    Attributes:
        p0: the rate that a healthy server has at least.
        first, second: the stages, each with items of its own.
    """

    p0: float
    first: StageRule
    second: StageRule

    @cached_property
    def alpha(self) -> float:
        """False-alarm rate: probability that a server at exactly ``p0`` is failed."""
        return self.power(self.p0)

    def power(self, p: float) -> float:
        """Probability that a server with true rate ``p`` is failed."""
        return self.first.chance(p) * self.second.chance(p)

    def detectable(self, power: float = 0.9) -> float:
        """The highest true rate that is still failed with that probability."""
        from scipy.optimize import brentq

        return float(brentq(lambda p: self.power(p) - power, 1e-9, self.p0, xtol=1e-6))

    @cached_property
    def expected_items(self) -> float:
        """Items that a server at ``p0`` pays for on average."""
        return self.first.n + self.first.chance(self.p0) * self.second.n

    @property
    def brief(self) -> str:
        """The same in one line of a table."""
        return (
            f"gate {self.first.n}/{self.second.n} at p0 {self.p0:g}: alpha {self.alpha:.1e}, "
            f"finds a drop to {self.detectable():.2f}"
        )

    def __str__(self) -> str:
        return (
            f"two stages, {self.first.n} items (fail at {self.first.fail_at} right or fewer) and only then "
            f"{self.second.n} fresh ones (fail at {self.second.fail_at}); p0 {self.p0:g}, alpha {self.alpha:.1e}, "
            f"a drop to {self.detectable():.2f} is failed with power 0.90"
        )


DEFAULT = TwoStageGate(p0=0.95, first=StageRule(32, 26), second=StageRule(64, 55))
"""Cheap where all is well (32.3 items on average), and a drop to 0.70 is failed 95 times of 100."""

LIGHT = TwoStageGate(p0=0.95, first=StageRule(16, 12), second=StageRule(32, 26))
"""For answers of many tokens: half the items, and what is failed for certain is a drop to about one half."""


@dataclass(frozen=True, slots=True)
class Decision:
    """How a gate ended.

    Attributes:
        gate: the test.
        right: right answers of each stage that was run.
    """

    gate: TwoStageGate
    right: tuple[int, ...]

    @property
    def undecided(self) -> bool:
        """The first stage failed and the second has not been run: more items are due."""
        return len(self.right) == 1 and self.gate.first.fails(self.right[0])

    @property
    def passed(self) -> bool:
        """Whether the rate stands; an undecided gate has not passed."""
        if not self.gate.first.fails(self.right[0]):
            return True
        return len(self.right) == 2 and not self.gate.second.fails(self.right[1])

    @property
    def items(self) -> int:
        """Items spent."""
        return sum(stage.n for stage, _ in zip((self.gate.first, self.gate.second), self.right, strict=False))

    @property
    def rate(self) -> float:
        """Right answers over all items of both stages."""
        return sum(self.right) / self.items

    def __str__(self) -> str:
        stages = zip((self.gate.first, self.gate.second), self.right, strict=False)
        return ", then ".join(f"{right} of {stage.n} right" for stage, right in stages)


def decide(gate: TwoStageGate, first: int, second: int | None = None) -> Decision:
    """The decision after one stage or two.

    Raises:
        ValueError: counts that the stages cannot have, or a second stage that was run without need: that would be a
            retry in disguise.
    """
    right = (first,) if second is None else (first, second)
    for stage, count in zip((gate.first, gate.second), right, strict=False):
        if not 0 <= count <= stage.n:
            raise ValueError(f"{count} right of {stage.n}")
    if second is not None and not gate.first.fails(first):
        raise ValueError(f"the first stage passed with {first} of {gate.first.n}; there is no second one")
    return Decision(gate, right)


def upper_bound_of_zero(n: int, confidence: float = 0.95) -> float:
    """With no violation in ``n`` responses, the true rate is below this with the given confidence (Clopper-Pearson)."""
    return float(1 - (1 - confidence) ** (1 / n))
