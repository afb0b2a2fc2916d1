"""Which launch a log, a stop or an answer belongs to, and when it is ready."""

from __future__ import annotations

import pytest

from selftests.launch.story import (
    KILLED_NEW,
    A,
    B,
    Story,
    api_line,
    finish,
    reading,
    shards,
    until_ray,
    until_weights,
    whole,
)
from shakedown.launch.events import Stream
from shakedown.launch.status import State


def test_of_two_starts_in_one_log_the_later_counts() -> None:
    story = Story(at=1100)
    story.tell([*until_weights(), *shards(46, [18.0] * 10)], backlog=True)
    story.says(230, KILLED_NEW, B, Stream.RAYLET_OUT, backlog=True)
    story.tell(until_weights(1000), backlog=True)
    story.both_live(1100)
    status = story.status(1100.5)
    assert status.state is State.RUNNING
    assert status.starts == 2
    assert status.explanation is None
    assert status.elapsed_s == pytest.approx(100.5)


def test_the_order_in_which_logs_arrive_does_not_matter_for_that() -> None:
    story = Story(at=1100)
    story.says(230, KILLED_NEW, B, Stream.RAYLET_OUT, backlog=True)
    story.tell(until_weights(1000), backlog=True)
    story.both_live(1100)
    assert story.status(1100.5).state is State.RUNNING
    story.says(1050, KILLED_NEW, B, Stream.RAYLET_OUT, backlog=True)
    assert story.status(1101).state is State.FAILED


def test_a_crash_of_an_earlier_launch_condemns_none_of_ours() -> None:
    story = Story(since=1000, at=1000)
    story.tell(until_weights(), backlog=True)
    story.says(230, KILLED_NEW, B, Stream.RAYLET_OUT, backlog=True)
    assert story.status(1001).state is State.WAITING
    story.tell(until_weights(1010))
    story.both_live(1056)
    assert story.status(1060).state is State.RUNNING


def test_a_server_that_somebody_stops_has_ended_and_the_next_is_followed() -> None:
    story = Story()
    story.both_live(0)
    story.play(until_weights(), 100, reading())
    story.says(100, api_line("[shutdown] API server: shutdown triggered"))
    story.lives(101, A, raylet=50, gcs=40)
    assert story.status(102).state is State.RUNNING
    story.tell(until_ray(103))
    story.both_live(103)
    assert story.status(104).state is State.RUNNING
    story.says(110, api_line("[shutdown] API server: shutdown triggered"))
    story.lives(111, A, raylet=50, gcs=40)
    ended = story.status(118)
    assert (ended.state, ended.settled) == (State.ENDED, True)


def test_the_same_stop_in_a_launch_of_ours_is_a_failure() -> None:
    story = Story(since=0)
    story.both_live(0)
    story.play(until_weights(), 100, reading())
    story.says(100, api_line("[shutdown] API server: shutdown triggered"))
    status = story.status(101)
    assert status.state is State.FAILED
    assert status.explanation is not None
    assert status.explanation.fault == "SRV-11"


def test_where_no_server_runs_there_is_nothing_to_watch() -> None:
    story = Story()
    story.lives(0, A, raylet=50, gcs=40)
    story.lives(0, B, raylet=60)
    assert story.status(1).state is State.WAITING
    status = story.status(6)
    assert (status.state, status.settled) == (State.ENDED, True)
    assert "nothing to watch" in status.notes[0]


def test_a_server_that_lists_another_model_is_not_this_deployment() -> None:
    lines, end = whole([1.0] * 10)
    story = Story()
    story.play(lines, end, reading())
    story.answers(end + 1, "another")
    status = story.status(end + 1)
    assert status.state is State.FAILED
    assert status.explanation is not None
    assert status.explanation.fault == "SRV-09"
    assert "another" in status.explanation.line


def test_an_answer_of_an_older_server_makes_no_launch_of_ours_ready() -> None:
    story = Story(since=0)
    story.both_live(0)
    story.play(until_weights(), 60, reading())
    story.answers(60)
    assert story.status(60).state is State.RUNNING
    assert story.watch.due is None


def test_attached_to_a_server_that_answers_only_the_proof_is_missing() -> None:
    story = Story(at=9000)
    story.lives(9000, A, server=100, raylet=50, gcs=40)
    story.answers(9000)
    assert finish(story, 9001).state is State.READY


def test_a_health_of_200_without_a_token_is_not_ready() -> None:
    lines, end = whole([1.0] * 10)
    story = Story()
    story.play(lines, end, reading())
    story.answers(end + 1)
    story.status(end + 1)
    story.proves(end + 4, why="/v1/completions says 500: EngineDeadError")
    status = story.status(end + 4)
    assert status.state is State.FAILED
    assert status.explanation is not None
    assert status.explanation.fault == "SRV-06"
    assert "500" in status.explanation.line


def test_a_head_that_is_reached_after_its_worker_is_no_launch() -> None:
    story = Story(reached=(B,))
    story.contact(0.3, A)
    story.lives(0.4, A, raylet=50, gcs=40)
    story.lives(0.4, B, raylet=60)
    status = story.status(10)
    assert status.state is State.ENDED
    assert not story.watch.known.moves_now
