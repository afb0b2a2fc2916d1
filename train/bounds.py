"""What a count of right answers says about the rate behind it."""

from __future__ import annotations

from scipy.stats import beta

CONFIDENCE = 0.95


def lower_bound(right: int, asked: int) -> float:
    """The rate that is exceeded with a confidence of 95 %: one-sided, exact (Clopper and Pearson, 1934)."""
    return float(beta.ppf(1 - CONFIDENCE, right, asked - right + 1)) if right else 0.0
