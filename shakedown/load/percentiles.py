"""Percentiles that refuse to be computed from too few samples."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Percentile:
    """A percentile, or the reason why there is none.

    Attributes:
        value: in the unit of the samples; None where it was refused.
        n: samples there were.
        needed: samples it takes.
    """

    value: float | None
    n: int
    needed: int

    @property
    def refusal(self) -> str:
        """Why there is no value, for people; empty where there is one."""
        return "" if self.value is not None else f"refused: {self.n} samples, {self.needed} needed"


def needed_samples(percent: float, confidence: float = CONFIDENCE) -> int:
    """Fewest samples whose largest one lies above the percentile with that confidence.

    From the distribution-free bound ``1 - p**n >= confidence`` (order statistics): 5 for the median, 29 for p90, 59
    for p95, 299 for p99. With fewer, the largest sample ever seen may still lie below the percentile asked for.
    """
    return math.ceil(math.log(1 - confidence) / math.log(percent / 100))


def percentile(samples: Sequence[float], percent: float) -> Percentile:
    """The percentile by linear interpolation (as numpy and ``vllm bench serve`` do), if there are enough samples."""
    needed = needed_samples(percent)
    value = float(np.percentile(samples, percent)) if len(samples) >= needed else None
    return Percentile(value=value, n=len(samples), needed=needed)
