"""Bytes become lines, stamps become moments, and two clocks become one."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shakedown.launch.clock import Clock
from shakedown.launch.lines import CUT, LONGEST, Splitter, lines_of
from shakedown.launch.stamps import stamp_of

AWKWARD = st.lists(
    st.sampled_from(
        [b"\n", b"\r", b"\r\n", b" ", b"a", b"bar 8/39", "é漢".encode(), b"\xff", b"\x1b[32m", b"\x1b[A", b"x" * 9000]
    ),
    max_size=12,
).map(b"".join)


@given(AWKWARD, st.lists(st.integers(0, 40_000), max_size=6))
def test_any_cutting_gives_the_same_lines(text: bytes, places: list[int]) -> None:
    whole = Splitter()
    expected = whole.feed(text) + whole.flush()
    pieces, cuts = Splitter(), sorted({min(place, len(text)) for place in places})
    got = [
        line for begin, end in zip([0, *cuts], [*cuts, len(text)], strict=True) for line in pieces.feed(text[begin:end])
    ]
    assert got + pieces.flush() == expected


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (b"one\ntwo\r\n\n   \nthree\n", ["one", "two", "three"]),
        (b"\rLoading: 1/39\rLoading: 2/39\n", ["Loading: 1/39", "Loading: 2/39"]),
        (b"\x1b[36m(Worker pid=7)\x1b[0m \x1b]0;title\x07INFO\x1b[K\n", ["(Worker pid=7) INFO"]),
        (b"caf\xe9 \xf0\x9f\n", ["caf\ufffd \ufffd"]),
        (b"   File x\n", ["   File x"]),
    ],
)
def test_lines_are_for_people(text: bytes, lines: list[str]) -> None:
    assert Splitter().feed(text) == lines


def test_a_line_that_is_too_long_is_cut_with_a_mark() -> None:
    splitter = Splitter()
    for _ in range(1000):
        assert splitter.feed(b"x" * 1000) == []
    assert splitter.feed(b"\nnext\n") == ["x" * LONGEST + CUT, "next"]
    assert lines_of("y" * LONGEST) == ["y" * LONGEST]


def test_half_a_line_waits_for_its_end_or_is_given_out_once() -> None:
    splitter = Splitter()
    assert splitter.feed(b"Is this right? ") == []
    assert splitter.waits
    assert splitter.flush() == ["Is this right?"]
    assert not splitter.waits
    assert splitter.feed(b"yes\n") == ["yes"]


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
