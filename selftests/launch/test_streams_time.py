"""Stamps become moments, and two clocks become one."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shakedown.launch.clock import Clock
from shakedown.launch.stamps import stamp_of

NOON = datetime(2026, 12, 1, 12, tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("text", "zone_s", "at"),
    [
        ("(APIServer pid=7) INFO 12-01 12:00:00 [x.py:1] hello", 0, NOON),
        ("(RayWorkerProc pid=9, ip=10.0.0.1) (Worker_TP0 pid=9) INFO 12-01 13:00:00 [x.py:1]", 3600, NOON),
        ("[2026-12-01 12:00:00,500 I 7 7] (raylet) main.cc:1: hello", 0, NOON + 0.5),
        ("2026-12-01 12:00:00,500\tINFO worker.py:1 -- Connecting", 0, NOON + 0.5),
        ("2026-12-01T12:00:00.250000000Z hello", 7200, NOON + 0.25),
        ("2026-12-01T14:00:00+02:00 hello", 0, NOON),
        ('{"timestamp": "2026-12-01 12:00:00", "level": "INFO"}', 0, NOON),
        ("WARNING 12-31 23:59:59 [x.py:1] of last year", 0, datetime(2025, 12, 31, 23, 59, 59, tzinfo=UTC).timestamp()),
        ("INFO 02-30 12:00:00 no such day", 0, None),
        ("Loading safetensors checkpoint shards: 21% Completed | 8/39 [01:43<06:39, 12.89s/it]", 0, None),
        ("the file is of 2026-12-01 12:00:00", 0, None),
    ],
)
def test_a_stamp_is_a_moment(text: str, zone_s: float, at: float | None) -> None:
    assert stamp_of(text, zone_s, NOON + 3600) == at


def test_a_29th_of_february_of_the_year_before_is_no_error() -> None:
    assert stamp_of("INFO 02-29 12:00:00 x", 0, NOON) is None


@given(st.text())
def test_no_text_is_an_error(text: str) -> None:
    stamp_of(text, 0, NOON)
    stamp_of("INFO " + text, 0, NOON)


def test_the_fastest_round_trip_is_believed() -> None:
    clock = Clock()
    assert not clock.known
    clock.add(100.0, 3702.9, 104.0)  # slow: wrong by up to 2 s
    clock.add(110.0, 3710.005, 110.01)
    clock.add(120.0, 3720.3, 120.4)
    assert clock.offset_s == pytest.approx(3600, abs=0.005)
    assert clock.here(3730.0) == pytest.approx(130.0, abs=0.005)


def test_a_clock_that_was_set_is_believed_anew() -> None:
    clock = Clock()
    clock.add(10.0, 10.001, 10.002)
    clock.add(20.0, 8.02, 20.04)
    assert clock.offset_s == pytest.approx(-12, abs=0.03)
