"""The gate's printed numbers are what simulated nights show."""

from __future__ import annotations

import numpy as np
import pytest

from shakedown.verdict.statistics import FALSE_ALARM, SETTLED, allowance, slowdown

NIGHTS = 10_000


def test_limit_is_widest_for_a_single_run_and_narrows() -> None:
    limits = [allowance([1.0, 1.02, 0.98, 1.01, 0.99, 1.0, 1.0][:n] * (1 if n < 7 else 2)).limit for n in (1, 2, 4, 7)]
    assert limits == sorted(limits, reverse=True)
    assert limits[0] == pytest.approx(0.39, abs=0.001)
    assert limits[-1] == pytest.approx(0.05)


def test_own_spread_widens_the_limit_where_it_is_larger_than_assumed() -> None:
    assert allowance([1.0, 1.4, 0.6]).limit > allowance([1.0, 1.0, 1.0]).limit


def test_record_is_provisional_until_it_has_settled() -> None:
    assert allowance([1.0] * (SETTLED - 1)).provisional
    assert not allowance([1.0] * SETTLED).provisional


def test_effect_is_never_smaller_than_stated() -> None:
    assert allowance([1.0] * 6).limit == 0.20
    assert allowance([1.0] * 20).limit == 0.05


@pytest.mark.parametrize("history", [[], [0.0], [1.0, -1.0]])
def test_history_without_positive_values_is_refused(history: list[float]) -> None:
    with pytest.raises(ValueError, match="positive"):
        allowance(history)


def test_slowdown_is_of_time_whatever_the_direction() -> None:
    assert slowdown(2.0, 1.0, higher_is_better=False) == 1.0
    assert slowdown(1.0, 2.0, higher_is_better=True) == 1.0
    assert slowdown(0.5, 1.0, higher_is_better=False) == -0.5


def failures(runs: int, spread: float, slower: float, seed: int) -> float:
    """Share of nights called slower, each against a record of its own; noise between nights is normal."""
    rng = np.random.default_rng(seed)
    alarms = 0
    for night in rng.normal(1.0, spread, size=(NIGHTS, runs + 1)):
        record = [float(value) for value in night[:-1]]
        allowed = allowance(record)
        change = slowdown(float(night[-1]) * (1 + slower), allowed.centre, higher_is_better=False)
        worst = slowdown(max(record), allowed.centre, higher_is_better=False)
        alarms += change > max(allowed.limit, worst)
    return alarms / NIGHTS


@pytest.mark.parametrize("spread", [0.02, 0.10])
@pytest.mark.parametrize("runs", [1, 2, 3, 5, 14, 30])
def test_false_alarms_stay_within_what_is_stated(runs: int, spread: float) -> None:
    """Up to three standard errors of the simulation above it."""
    slack = 3 * (FALSE_ALARM * (1 - FALSE_ALARM) / NIGHTS) ** 0.5
    assert failures(runs, spread, 0.0, seed=runs) <= FALSE_ALARM + slack


@pytest.mark.parametrize(
    ("runs", "spread", "slower", "at_least"),
    [
        pytest.param(1, 0.02, 0.50, 0.99, id="one-run-sees-half-as-slow-again"),
        pytest.param(5, 0.02, 0.30, 0.95, id="five-runs-see-30-percent"),
        pytest.param(14, 0.02, 0.10, 0.90, id="settled-record-sees-10-percent"),
    ],
)
def test_slower_deployments_are_seen_as_often_as_stated(
    runs: int, spread: float, slower: float, at_least: float
) -> None:
    assert failures(runs, spread, slower, seed=runs) >= at_least
