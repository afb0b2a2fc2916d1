"""Processes that come and go."""

from __future__ import annotations

import pytest

from shakedown.launch.events import Processes
from shakedown.launch.lives import Ended, Lives


def seen(*looks: tuple[float, dict[str, tuple[int, ...]]], stopped: tuple[int, ...] = ()) -> Lives:
    lives = Lives("a")
    for at, alive in looks:
        lives.saw(Processes("a", at, alive, stopped))
    return lives


def test_what_is_gone_is_told_once_and_only_after_its_time() -> None:
    lives = seen((0, {"raylet": (7,)}), (5, {}))
    assert lives.ended(6, 1.5) == []
    assert lives.ended(6.5, 1.5) == [Ended("a", "raylet", (7,), 5)]
    assert lives.ended(60, 1.5) == []


def test_what_others_take_along_is_told_after_them() -> None:
    lives = seen((0, {"server": (7,), "engine": (8,), "worker": (9,)}), (5, {}))
    told = [[one.kind for one in lives.ended(at, 0.1)] for at in (5.0, 5.15, 5.25, 5.35, 5.45, 5.55)]
    assert told == [[], ["server"], [], ["engine"], [], ["worker"]]


@pytest.mark.parametrize(
    ("ended", "other", "along"),
    [
        (Ended("b", "worker", (1,), 5), Ended("a", "server", (2,), 6), True),
        (Ended("b", "worker", (1,), 5), Ended("a", "engine", (2,), 6.9), True),
        (Ended("b", "worker", (1,), 5), Ended("b", "raylet", (2,), 5), True),
        (Ended("b", "worker", (1,), 5), Ended("a", "raylet", (2,), 5), False),
        (Ended("b", "worker", (1,), 5), Ended("a", "server", (2,), 7.5), False),
        (Ended("a", "server", (1,), 5), Ended("b", "worker", (2,), 5), False),
        (Ended("a", "worker", (1,), 5), Ended("b", "worker", (2,), 5), False),
    ],
)
def test_what_goes_with_what(ended: Ended, other: Ended, along: bool) -> None:
    assert ended.goes_with(other) is along


def test_one_of_several_may_end() -> None:
    assert seen((0, {"worker": (7, 8)}), (5, {"worker": (8,)})).ended(60, 1.5) == []


def test_what_never_lived_has_not_ended() -> None:
    assert seen((0, {}), (5, {})).ended(60, 1.5) == []


def test_a_server_in_the_place_of_another_is_told_at_once() -> None:
    lives = seen((0, {"server": (7,)}), (5, {"server": (9,)}))
    assert lives.ended(5, 1.5) == [Ended("a", "server", (7,), 5, by=(9,))]
    assert lives.ended(50, 1.5) == []


def test_a_server_with_more_processes_is_the_same_server() -> None:
    assert seen((0, {"server": (7,)}), (5, {"server": (7, 9)})).ended(60, 1.5) == []


def test_kinds_that_do_not_matter_are_nobody_s_business() -> None:
    assert seen((0, {"other": (7,)}), (5, {})).ended(60, 1.5) == []


def test_a_stopped_process_is_told_with_its_kind_for_as_long_as_it_is_stopped() -> None:
    lives = seen((3, {"worker": (7,)}), stopped=(7,))
    assert lives.stopped(3.5, 1.0) == []
    assert lives.stopped(4, 1.0) == [("worker", 7)]
    lives.saw(Processes("a", 5, {"worker": (7,)}, ()))
    assert lives.stopped(60, 1.0) == []
