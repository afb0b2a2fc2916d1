from __future__ import annotations

import pytest

from shakedown.load.percentiles import needed_samples, percentile


@pytest.mark.parametrize(("percent", "needed"), [(50, 5), (90, 29), (95, 59), (99, 299)])
def test_needed_samples_are_those_of_the_order_statistics(percent: float, needed: int) -> None:
    assert needed_samples(percent) == needed
    assert 1 - (percent / 100) ** needed >= 0.95
    assert 1 - (percent / 100) ** (needed - 1) < 0.95


def test_too_few_samples_are_refused_with_the_number_it_takes() -> None:
    refused = percentile([1.0] * 28, 90)
    assert refused.value is None
    assert refused.refusal == "refused: 28 samples, 29 needed"


def test_enough_samples_give_the_interpolated_value() -> None:
    found = percentile([float(n) for n in range(101)], 90)
    assert found.value == pytest.approx(90.0)
    assert found.refusal == ""


def test_no_samples_are_refused() -> None:
    assert percentile([], 50).value is None
