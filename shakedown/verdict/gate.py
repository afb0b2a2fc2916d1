"""A metric against its record: PASS, FAIL, INCONCLUSIVE or INVALID, with the sentence that says why.

FAIL needs effect and evidence: slower than the allowance of the record permits, and slower than every recorded run.
Beyond the effect that matters but within the noise of the record is INCONCLUSIVE. INVALID is decided elsewhere
(`validity`), before anything is compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from shakedown.outcomes import Metric
from shakedown.verdict.statistics import allowance, slowdown


class Verdict(StrEnum):
    """What can be said of a metric."""

    PASS = "PASS"  # noqa: S105 - no password
    FAIL = "FAIL"
    INCONCLUSIVE = "INCONCLUSIVE"
    INVALID = "INVALID"


@dataclass(frozen=True, slots=True)
class Judgement:
    """One verdict.

    Attributes:
        metric: name.
        verdict: see `Verdict`.
        found: what was measured, for people.
        expected: against what, and where that comes from.
    """

    metric: str
    verdict: Verdict
    found: str
    expected: str


def against_record(metric: Metric, history: Sequence[float]) -> Judgement:
    """Compare one run with the recorded ones.

    Args:
        metric: with a value and a direction.
        history: its value in each recorded run; at least one.

    Raises:
        ValueError: the metric has no direction, or the history is empty.
    """
    if metric.better == "none":
        raise ValueError(f"{metric.name} has no better direction: it cannot be gated")
    if metric.value is None or metric.value <= 0:
        return Judgement(metric.name, Verdict.INCONCLUSIVE, f"no {metric.name}: {metric.note or 'zero'}", "a value")
    if min(history) <= 0:
        return Judgement(metric.name, Verdict.INVALID, f"the record holds a {metric.name} of {min(history)}", "a time")
    allowed = allowance(history)
    higher = metric.better == "higher"
    slower = slowdown(metric.value, allowed.centre, higher_is_better=higher)
    worst = slowdown(min(history) if higher else max(history), allowed.centre, higher_is_better=higher)
    if slower <= allowed.effect:
        verdict = Verdict.PASS
    elif slower > max(allowed.limit, worst):
        verdict = Verdict.FAIL
    else:
        verdict = Verdict.INCONCLUSIVE
    runs = f"{allowed.runs} recorded run{'s' if allowed.runs > 1 else ''}"
    found = f"{metric.name} {value_text(metric)}: {change_text(slower)} than the median of {runs}"
    expected = (
        f"{value_text(metric, allowed.centre)} and at most {allowed.effect:.0%} slower; a failure from "
        f"{max(allowed.limit, worst):.0%} on{', a provisional limit' if allowed.provisional else ''}"
    )
    return Judgement(metric.name, verdict, found, expected)


def against_limit(metric: Metric, *, highest: float | None, lowest: float | None) -> Judgement:
    """Compare one run with a limit that the deployment file states (``[[slo]]``), record or not."""
    bounds = [f"at most {value_text(metric, highest)}"] if highest is not None else []
    bounds += [f"at least {value_text(metric, lowest)}"] if lowest is not None else []
    expected = f"{' and '.join(bounds)}, by [[slo]] of the deployment file"
    if metric.value is None:
        return Judgement(metric.name, Verdict.INCONCLUSIVE, f"no {metric.name}: {metric.note}", expected)
    kept = (highest is None or metric.value <= highest) and (lowest is None or metric.value >= lowest)
    verdict = Verdict.PASS if kept else Verdict.FAIL
    return Judgement(metric.name, verdict, f"{metric.name} {value_text(metric)}", expected)


def value_text(metric: Metric, value: float | None = None) -> str:
    """A number as people read it, with its unit: ``31.4 ms``, ``0 ratio``, ``92.1 tokens/s``."""
    number = metric.value if value is None else value
    if number is None:
        return "no value"
    if metric.unit == "s" and 0 < abs(number) < 1:
        return f"{number * 1000:.3g} ms"
    return f"{number:.4g} {metric.unit}"


def change_text(slower: float) -> str:
    """A slow-down as people read it."""
    return f"{slower:.1%} slower" if slower >= 0 else f"{-slower:.1%} faster"
