"""A launch of which nothing is heard: the server is not there, or writes where nobody looks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from selftests.launch.story import T0, A, B, Story, pair
from shakedown.inventory.model import Deployment
from shakedown.launch.events import Processes
from shakedown.launch.status import State, Status
from shakedown.launch.watch import Due

NOT_THERE = "env: 'python3': No such file or directory"


def by_our_command() -> Deployment:
    """Without a serve command of the operator's."""
    return pair().model_copy(update={"launch": None})


def seconds(story: Story, until: int, *, server: bool, cpu: float = 0.0) -> Iterator[Status]:
    """Its status second by second, with counters that stand still but for the head's processor."""
    lives: dict[str, Any] = {"server": 100} if server else {}
    for at in range(until):
        story.lives(at, A, raylet=50, gcs=40, **lives)
        story.lives(at, B, raylet=60)
        story.counts(at, A, CPU=cpu * at, READ=0.0, FABRIC=0.0, AVAILABLE=1e11)
        story.counts(at, B, CPU=0.0, READ=0.0, FABRIC=0.0, AVAILABLE=1e11)
        yield story.status(at)


def test_a_server_of_ours_that_is_not_there_has_failed_at_once() -> None:
    story = Story(deployment=by_our_command(), since=-1)
    story.says(0, NOT_THERE)
    first = next(status for status in seconds(story, 60, server=False) if status.state is not State.WAITING)
    assert (first.state, first.settled) == (State.FAILED, True)
    assert story.status(20).updated_at - first.updated_at >= 4
    assert first.explanation is not None
    assert f"no API server runs on {A}" in first.explanation.title
    assert any(NOT_THERE in line for line in first.explanation.evidence)


def test_where_nobody_can_look_nothing_is_concluded() -> None:
    story = Story(deployment=by_our_command(), since=-1)
    list(seconds(story, 10, server=False))
    assert story.status(600).state is State.WAITING


def test_a_command_of_the_operators_is_waited_for_and_that_is_said() -> None:
    """It may pull an image for half an hour."""
    *_, last = seconds(Story(since=-1), 1800, server=False)
    assert last.state is State.WAITING
    assert any("no process of a server is seen yet" in note for note in last.notes)


@pytest.mark.parametrize("since", [None, -1.0])
def test_a_server_that_is_not_heard_and_moves_nothing_stands_still(since: float | None) -> None:
    first = next(one for one in seconds(Story(since=since), 200, server=True) if one.state is not State.RUNNING)
    assert first.state is State.STALLED


def test_a_server_that_is_not_heard_and_works_is_never_condemned() -> None:
    *_, last = seconds(Story(since=-1), 5000, server=True, cpu=1.0)
    assert last.state is State.RUNNING
    assert any("nothing that its log says is known" in note for note in last.notes)


@pytest.mark.parametrize(
    ("owner", "state"),
    [("python3 (100)", State.READY), ("python3 (7)", State.RUNNING), ("", State.RUNNING)],
)
def test_a_server_of_ours_is_ready_without_a_word_if_it_is_the_one_that_listens(owner: str, state: State) -> None:
    story = Story(since=-1)
    *_, last = seconds(story, 60, server=True, cpu=1.0)
    assert last.state is State.RUNNING
    story.feed(Processes(A, T0 + 60, {"server": (100,), "raylet": (50,), "gcs": (40,)}, (), owner))
    story.answers(60)
    assert (story.status(60).state, story.watch.due) == (State.RUNNING, Due.PROOF if state is State.READY else None)
    if state is State.READY:
        story.proves(61)
    assert story.status(61).state is state
