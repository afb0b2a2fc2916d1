"""How far the time left is from the truth, on simulated launches of which the truth is known."""

from __future__ import annotations

import random
from collections.abc import Sequence
from statistics import median

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selftests.launch.story import Story, pair, reading, shards, until_weights, whole
from shakedown.launch.eta import Pace, Record, all_left_s
from shakedown.launch.history import Launched, kind_of
from shakedown.launch.status import Status

SHARDS = 39


def paced(seconds: Sequence[float], expected_s: float | None = None) -> list[tuple[float, float | None]]:
    """(true time left, estimate) right after each item."""
    pace, at, total = Pace(), 0.0, sum(seconds)
    pace.saw(0, 0.0)
    said: list[tuple[float, float | None]] = []
    for done, took in enumerate(seconds, 1):
        at += took
        pace.saw(done, at)
        said.append((total - at, pace.left_s(len(seconds), at, expected_s)))
    return said


def test_even_shards_are_told_exactly_as_soon_as_the_rate_is_trusted() -> None:
    said = paced([18.0] * SHARDS)
    assert [left for _, left in said[:3]] == [None, None, None]
    assert all(left == pytest.approx(true) for true, left in said[3:])


def test_uneven_shards_are_told_within_a_third_or_two_shards_and_mostly_within_a_twentieth() -> None:
    draw = random.Random(7)
    errors: list[float] = []
    for _ in range(50):
        for true, left in paced([18.0 * draw.uniform(0.75, 1.25) for _ in range(SHARDS)])[4:-1]:
            assert left is not None
            assert abs(left - true) <= max(0.3 * true, 36.0)
            errors.append(abs(left - true) / true)
    assert median(errors) <= 0.05


def test_shards_from_a_warm_page_cache_are_not_believed_where_a_cold_launch_is_on_record() -> None:
    seconds = [0.5] * 3 + [18.0] * (SHARDS - 3)
    for true, left in paced(seconds, expected_s=18.0)[:3]:
        assert left == pytest.approx(true, rel=0.06)


def test_a_slower_pace_is_taken_up_within_eight_items() -> None:
    seconds = [2.0] * 15 + [18.0] * 24
    true, left = paced(seconds)[15 + 8]
    assert left == pytest.approx(true, rel=0.15)


def test_time_goes_by_between_two_items_and_never_below_what_the_rest_takes() -> None:
    pace = Pace()
    for done in range(11):
        pace.saw(done, 10.0 * done)
    assert pace.left_s(20, 100) == pytest.approx(100)
    assert pace.left_s(20, 104) == pytest.approx(96)
    assert pace.left_s(20, 500) == pytest.approx(90)
    assert pace.left_s(10, 500) == 0


def test_several_items_at_once_count_as_many() -> None:
    pace = Pace()
    for at in range(0, 101, 20):
        pace.saw(at / 5, at)
    assert pace.item_s == pytest.approx(5)


def test_a_bar_of_which_only_its_own_rate_is_known_is_believed() -> None:
    pace = Pace()
    pace.was_told(20, 1000, 17.5)
    assert pace.left_s(SHARDS, 1000) == pytest.approx(19 * 17.5)


@given(st.lists(st.tuples(st.integers(0, 50), st.floats(-100, 1e6)), max_size=30), st.floats(0, 1e6), st.floats(0, 1e6))
def test_no_bar_gives_a_negative_time(sightings: list[tuple[int, float]], now: float, expected: float) -> None:
    pace = Pace()
    for done, at in sightings:
        pace.saw(done, at)
    for left in (pace.left_s(50, now), pace.left_s(50, now, expected)):
        assert left is None or left >= 0


def test_a_phase_on_record_takes_its_median_then_at_most_its_longest_then_nobody_knows() -> None:
    record = Record((60.0, 80.0, 200.0))
    assert record.left_s(0) == 80
    assert record.left_s(30) == 50
    assert record.left_s(90) == 110
    assert record.left_s(201) is None


def test_the_whole_is_the_phase_and_the_medians_behind_it() -> None:
    records = {"compile": Record((60.0,)), "graphs": Record((15.0, 25.0))}
    assert all_left_s(100.0, ["compile", "kv", "graphs"], records) == 180
    assert all_left_s(None, ["compile"], records) is None
    assert all_left_s(100.0, ["compile"], {}) is None
    assert all_left_s(10.0, [], {}) == 10


def earlier(shard_s: float = 18.0, engine: str = "0.33.0") -> Launched:
    """What the story's launch leaves on record."""
    phases = {
        "WEIGHTS": SHARDS * shard_s,
        "MODEL": 1.0,
        "PROFILE": 1.0,
        "COMPILE": 65.0,
        "KV_CACHE": 2.0,
        "GRAPHS": 20.0,
    }
    return Launched(
        kind=kind_of(pair(), engine),
        phases_s={**phases, "ENGINE_READY": 20.0, "API": 5.0},
        total_s=900,
        item_s=shard_s,
    )


def left_of(statuses: Sequence[Status], end: float) -> list[tuple[float, float | None]]:
    return [(end - (status.elapsed_s or 0), status.left_s) for status in statuses]


def test_without_a_record_the_whole_is_unknown_and_the_weights_are_not() -> None:
    lines, end = whole([18.0] * SHARDS)
    statuses = Story().play(lines, end, reading())
    assert {status.left_s for status in statuses if status.phase not in ("answering", "API server")} == {None}
    loading = [status for status in statuses if status.phase == "weights" and status.bar]
    true = [46 + SHARDS * 18.0 - (status.elapsed_s or 0) for status in loading]
    errors = [abs((status.phase_left_s or 0) - left) for status, left in zip(loading, true, strict=True)]
    assert max(errors) <= 3


def test_with_a_record_the_whole_is_told_within_a_twentieth_of_the_launch() -> None:
    lines, end = whole([18.0] * SHARDS)
    statuses = Story(earlier=[earlier()]).play(lines, end, reading())
    loading = [status for status in statuses if status.phase == "weights" and status.bar]
    assert len(loading) > 600
    for true, left in left_of(loading, end):
        assert left is not None
        assert left == pytest.approx(true, abs=0.05 * end)


def test_a_record_of_another_engine_says_nothing() -> None:
    lines, _ = whole([18.0] * SHARDS)
    statuses = Story(earlier=[earlier(engine="0.17.1")]).play(lines, 300, reading())
    assert statuses[-1].left_s is None


def test_attached_in_the_middle_the_bar_s_own_rate_tells_the_time_left() -> None:
    story = Story(at=400)
    bars = [line for line in shards(46, [18.0] * SHARDS) if line[0] < 400]
    slow = [(at, node, stream, text.replace("1.00s/it", "18.00s/it")) for at, node, stream, text in bars]
    story.tell([*until_weights(), *slow], backlog=True)
    story.both_live(400)
    status = story.status(400)
    assert status.phase_left_s == pytest.approx(46 + SHARDS * 18 - 400, abs=18)
