"""A launch that fails is told by its root, once, and as soon as the root is there."""

from __future__ import annotations

from typing import Any

import pytest

from selftests.launch.story import KILLED_NEW, A, B, Story, engine, reading, shards, until_ray, until_weights
from shakedown.launch.events import Stream
from shakedown.launch.status import State


def test_a_root_that_stands_only_on_the_worker_is_known_within_a_second() -> None:
    story = Story()
    story.both_live(0)
    story.play([*until_weights(), *shards(46, [18.0] * 39)], 300, reading())
    story.says(300.4, KILLED_NEW, B, Stream.RAYLET_OUT)
    status = story.status(301)
    assert status.state is State.FAILED
    assert status.explanation is not None
    assert (status.explanation.fault, status.explanation.node) == ("MEM-01", B)
    assert "raylet.out" in status.explanation.stream
    assert status.explanation.remedy
    story.says(301, engine("EngineCore encountered a fatal error."))
    settled = story.status(306)
    assert settled.settled
    assert settled.explanation is not None
    assert settled.explanation.fault == "MEM-01"


def test_a_consequence_waits_for_its_root_and_then_names_what_was_silent() -> None:
    story = Story()
    story.both_live(0)
    story.play([*until_weights(), *shards(46, [18.0] * 39)], 300, reading())
    story.says(300, engine("EngineCore failed to start."))
    assert story.status(301).state is State.RUNNING
    status = story.status(305.5)
    assert status.state is State.FAILED
    assert status.explanation is not None
    assert status.explanation.fault == "SRV-03"
    assert f"no line ever came from {B}: raylet.out" in status.explanation.evidence


@pytest.mark.parametrize(
    ("ended", "fault", "node"),
    [("server", "SRV-11", A), ("engine", "SRV-03", A), ("gcs", "RAY-17", A), ("worker", "SRV-04", B)],
)
def test_a_process_that_is_killed_without_a_word_is_known_within_a_second(ended: str, fault: str, node: str) -> None:
    story = Story()
    story.both_live(0)
    story.play([*until_weights(), *shards(46, [18.0] * 39)], 300, reading())
    there = {
        A: {"server": 100, "engine": 200, "worker": 300, "raylet": 50, "gcs": 40},
        B: {"worker": 400, "raylet": 60},
    }
    alive: dict[str, Any] = {kind: pid for kind, pid in there[node].items() if kind != ended}
    story.lives(300, node, **alive)
    assert story.status(300.05).state is State.RUNNING
    status = [story.status(300 + step / 10) for step in range(1, 10)][-1]
    assert status.state is State.FAILED
    assert not status.settled, "a root may still be under way"
    assert status.explanation is not None
    assert (status.explanation.fault, status.explanation.node) == (fault, node)


def test_who_killed_the_process_is_told_where_it_comes_to_light_later() -> None:
    story = Story()
    story.both_live(0)
    story.play([*until_weights(), *shards(46, [18.0] * 39)], 300, reading())
    story.lives(300, B, raylet=60)
    told = [story.status(300 + step / 10).explanation for step in range(1, 10)][-1]
    story.says(299.9, KILLED_NEW, B, Stream.RAYLET_OUT)
    corrected = story.status(302).explanation
    assert told is not None
    assert corrected is not None
    assert (told.fault, corrected.fault) == ("SRV-04", "MEM-01")


@pytest.mark.parametrize("first", [A, B])
def test_workers_that_end_with_their_server_are_not_taken_for_the_cause(first: str) -> None:
    story = Story()
    story.both_live(0)
    story.play([*until_weights(), *shards(46, [18.0] * 39)], 300, reading())
    for at, name in ((300.0, first), (300.8, B if first == A else A)):
        if name == A:
            story.lives(at, A, raylet=50, gcs=40)
        else:
            story.lives(at, B, raylet=60)
        story.status(at)
    statuses = [story.status(302 + step / 2) for step in range(14)]
    explanation = statuses[-1].explanation
    assert explanation is not None
    assert (explanation.fault, explanation.node) == ("SRV-11", A)


def test_workers_that_end_with_their_engine_are_not_taken_for_the_cause() -> None:
    story = Story()
    story.both_live(0)
    story.play([*until_weights(), *shards(46, [18.0] * 39)], 300, reading())
    story.lives(300, B, raylet=60)
    story.lives(300.9, A, server=100, raylet=50, gcs=40)
    explanation = [story.status(301 + step / 2) for step in range(18)][-1].explanation
    assert explanation is not None
    assert (explanation.fault, explanation.node) == ("SRV-03", A)


def test_workers_that_end_with_their_raylet_are_not_taken_for_the_cause() -> None:
    story = Story()
    story.both_live(0)
    story.play([*until_weights(), *shards(46, [18.0] * 39)], 300, reading())
    story.lives(300, B, raylet=60)
    story.lives(300.9, B)
    explanation = [story.status(301 + step / 2) for step in range(18)][-1].explanation
    assert explanation is not None
    assert (explanation.fault, explanation.node) == ("RAY-17", B)


def test_a_worker_in_the_place_of_another_has_not_ended() -> None:
    story = Story()
    story.both_live(0)
    story.play(until_weights(), 60, reading())
    story.lives(60, B, raylet=60)
    assert story.status(60.2).state is State.RUNNING
    story.lives(60.4, B, worker=401, raylet=60)
    assert {story.status(61 + at).state for at in range(20)} == {State.RUNNING}


def test_attached_late_to_a_crash_its_cause_is_told_at_once() -> None:
    story = Story(at=900)
    story.tell([*until_weights(), *shards(46, [18.0] * 10)], backlog=True)
    story.says(230, KILLED_NEW, B, Stream.RAYLET_OUT, backlog=True)
    story.lives(900, A, raylet=50, gcs=40)
    status = story.status(900.2)
    assert status.state is State.FAILED
    assert status.explanation is not None
    assert status.explanation.fault == "MEM-01"
    assert status.explanation.at - (status.began or 0) == pytest.approx(230)


def test_a_server_that_docker_starts_again_has_failed() -> None:
    story = Story()
    story.both_live(0)
    story.play(until_weights(), 100, reading())
    story.says(100, "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB")
    story.lives(101, A, server=900, raylet=50, gcs=40)
    story.tell([(101.5 + at, node_, stream, text) for at, node_, stream, text in until_ray()[:2]])
    status = story.status(101.6)
    assert status.state is State.FAILED
    assert status.explanation is not None
    assert status.explanation.fault is not None
    assert status.explanation.fault.startswith("MEM")
    assert "CUDA out of memory" in status.explanation.line


def test_started_again_without_a_word_is_a_failure_too() -> None:
    story = Story()
    story.both_live(0)
    story.play(until_weights(), 100, reading())
    story.tell([(101 + at, node_, stream, text) for at, node_, stream, text in until_ray()[:2]])
    status = story.status(101.2)
    assert (status.state, status.settled) == (State.FAILED, True)
    assert status.explanation is not None
    assert "started again" in status.explanation.line


def test_a_container_that_died_is_told_with_its_exit_code() -> None:
    story = Story()
    story.both_live(0)
    story.play(until_weights(), 100, reading())
    story.says(100, "container vllm: die, exit code 137", B, Stream.CONTAINER)
    story.says(
        100.5,
        "container vllm: status exited, exit code 137, finished 2026-12-01T12:05:00Z, OOMKilled",
        B,
        Stream.CONTAINER,
    )
    status = story.status(101)
    assert status.state is State.FAILED
    assert status.explanation is not None
    assert status.explanation.node == B
    assert status.explanation.fault is not None
    assert status.explanation.fault.startswith("MEM")
