"""Numbers and durations in words."""

from __future__ import annotations

import pytest

from shakedown.report.results import MetricRecord
from shakedown.report.words import lasted, quantity


@pytest.mark.parametrize(
    ("value", "unit", "words"),
    [
        (0.000123456, "s", "0.0001235 s"),
        (1.0, "s", "1 s"),
        (27.04999, "tokens/s", "27.05 tokens/s"),
        (999.96, "s", "1000 s"),
        (12345.6, "bytes", "12346 bytes"),
        (-0.5, "ratio", "-0.5 ratio"),
        (3.0, "", "3"),
        (None, "s", "none"),
    ],
)
def test_quantity(value: float | None, unit: str, words: str) -> None:
    assert quantity(MetricRecord(name="m", value=value, unit=unit)) == words


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.0004, "0 ms"), (0.85, "850 ms"), (3.21, "3.2 s"), (59.96, "60.0 s"), (61, "1 min 1 s"), (725, "12 min 5 s")],
)
def test_duration(seconds: float, words: str) -> None:
    assert lasted(seconds) == words
