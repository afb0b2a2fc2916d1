"""The numbers a gate prints are the exact ones, and its stages cannot be bent into retries."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import pytest

from shakedown.serving.gates import DEFAULT, LIGHT, StageRule, TwoStageGate, decide, upper_bound_of_zero
from shakedown.serving.plans.items import ANSWERED


def cumulative(k: int, n: int, p: Fraction) -> float:
    return float(sum(comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(k + 1)))


@pytest.mark.parametrize("p", [Fraction(95, 100), Fraction(8, 10), Fraction(7, 10), Fraction(1, 2)], ids=float)
def test_power_is_the_product_of_exact_binomial_sums(p: Fraction) -> None:
    assert DEFAULT.power(float(p)) == pytest.approx(cumulative(26, 32, p) * cumulative(55, 64, p), rel=1e-9)


def test_published_figures_of_the_default() -> None:
    assert DEFAULT.alpha == pytest.approx(2.0e-5, rel=0.05)
    assert DEFAULT.power(0.7) == pytest.approx(0.948, abs=0.001)
    assert DEFAULT.power(0.6) == pytest.approx(0.997, abs=0.001)
    assert DEFAULT.expected_items == pytest.approx(32.3, abs=0.05)


def test_detectable_drop_has_the_stated_power() -> None:
    assert DEFAULT.power(DEFAULT.detectable(0.9)) == pytest.approx(0.9, abs=1e-4)
    assert DEFAULT.detectable(0.99) < DEFAULT.detectable(0.9) < DEFAULT.p0


def test_the_text_says_everything_that_was_declared() -> None:
    assert str(DEFAULT) == (
        "two stages, 32 items (fail at 26 right or fewer) and only then 64 fresh ones (fail at 55); "
        "p0 0.95, alpha 2.0e-05, a drop to 0.73 is failed with power 0.90"
    )


def test_a_passed_first_stage_decides_alone() -> None:
    decision = decide(DEFAULT, 27)
    assert decision.passed
    assert not decision.undecided
    assert decision.rate == 27 / 32


def test_a_failed_first_stage_asks_for_the_second() -> None:
    assert decide(DEFAULT, 26).undecided
    assert not decide(DEFAULT, 26).passed
    assert decide(DEFAULT, 26, 56).passed
    assert not decide(DEFAULT, 26, 55).passed
    assert decide(DEFAULT, 26, 55).rate == 81 / 96
    assert str(decide(DEFAULT, 26, 55)) == "26 of 32 right, then 55 of 64 right"


@pytest.mark.parametrize(("first", "second"), [(32, 64), (33, None), (-1, None), (20, 65)])
def test_impossible_or_needless_stages_are_refused(first: int, second: int | None) -> None:
    with pytest.raises(ValueError, match=r"of 32|of 64"):
        decide(DEFAULT, first, second)


def test_bound_of_a_rate_that_was_never_seen() -> None:
    assert upper_bound_of_zero(100) == pytest.approx(0.0295, abs=1e-4)
    assert upper_bound_of_zero(1000) == pytest.approx(0.0030, abs=1e-4)


def test_a_gate_of_other_size() -> None:
    gate = TwoStageGate(p0=0.98, first=StageRule(10, 7), second=StageRule(20, 15))
    p = Fraction(98, 100)
    assert gate.alpha == pytest.approx(cumulative(7, 10, p) * cumulative(15, 20, p), rel=1e-9)


def test_all_gates_of_a_run_together_stay_within_the_budget_of_false_alarms() -> None:
    thinking, tool_calls = LIGHT, LIGHT
    assert sum(gate.alpha for gate in (*ANSWERED.values(), thinking, tool_calls)) < 1e-3
