"""How much slower a run must be than its record before that means something.

The unit is one run: one median (or rate) a night. Requests of one run share the state of the machine and are not
independent, so they are never pooled over runs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from statistics import NormalDist

import numpy as np

FALSE_ALARM = 0.01
"""Probability, one-sided and per metric, that an unchanged deployment is called slower."""

ASSUMED_CV = 0.10
"""Run-to-run spread (relative) taken for granted while fewer than `ENOUGH_FOR_SPREAD` runs could show their own: about
twice what public series of nights show on quiet machines (2-5 %), since nothing is known of this one."""

ENOUGH_FOR_SPREAD = 5
SETTLED = 14
"""Runs from which on a record is no longer provisional."""

PROVISIONAL_EFFECT = 0.20
"""Smallest slow-down worth a failure while provisional: the limit of the PyTorch dashboard for vLLM
(pytorch/test-infra, regression_utils.py)."""

SETTLED_EFFECT = 0.05

_NORMAL_QUANTILE = NormalDist().inv_cdf(1 - FALSE_ALARM)


@dataclass(frozen=True, slots=True)
class Allowance:
    """What a run may differ from its record.

    Attributes:
        centre: median of the recorded runs.
        effect: slow-down (share) up to which a run counts as equal.
        limit: slow-down (share) beyond which it is slower; between the two nothing can be said.
        runs: how many were recorded.
    """

    centre: float
    effect: float
    limit: float
    runs: int

    @property
    def provisional(self) -> bool:
        """True while the record is short: the limit is wide, and widest for a single run."""
        return self.runs < SETTLED


def allowance(history: Sequence[float]) -> Allowance:
    """The allowance that recorded runs give.

    * fewer than 5 runs: ``exp(z(0.99) * max(10 %, own spread) * sqrt(1 + v/n)) - 1``, at least 20 %: 39 % for one run;
    * 5 to 13: ``exp(t(0.99; n-1) * own spread * sqrt(1 + v/n)) - 1``, at least 20 %;
    * 14 and more: ``3 * own spread``, at least 5 %.

    ``sqrt(1 + v/n)`` is the spread of a new run around the median of n: v is 1 for n < 3, where the median is the
    mean, else pi/2, the asymptotic variance of a median. It is one of logarithms, since a slow-down is a ratio.

    Raises:
        ValueError: no history, or a value in it that is not positive.
    """
    n = len(history)
    if n == 0 or min(history) <= 0:
        raise ValueError(f"a record needs positive values, got {list(history)}")
    centre = float(np.median(history))
    spread = float(np.std(history, ddof=1)) / centre if n > 1 else 0.0
    around = math.sqrt(1 + (1.0 if n < 3 else math.pi / 2) / n)
    if n >= SETTLED:
        return Allowance(centre, SETTLED_EFFECT, max(SETTLED_EFFECT, 3 * spread), n)
    if n >= ENOUGH_FOR_SPREAD:
        noise = _student_quantile(n - 1) * spread * around
    else:
        noise = _NORMAL_QUANTILE * max(ASSUMED_CV, spread) * around
    return Allowance(centre, PROVISIONAL_EFFECT, max(PROVISIONAL_EFFECT, math.expm1(noise)), n)


@cache
def _student_quantile(degrees: int) -> float:
    from scipy import stats  # a second of imports, which only a run with a record needs

    return float(stats.t.ppf(1 - FALSE_ALARM, degrees))


def slowdown(value: float, centre: float, *, higher_is_better: bool) -> float:
    """How much slower than the record, as a share of time: 0.25 is a quarter more time, or a rate of 1/1.25."""
    return centre / value - 1 if higher_is_better else value / centre - 1
