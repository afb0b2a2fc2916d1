"""A launch that goes on is never condemned, however slow it is and whatever cannot be seen."""

from __future__ import annotations

import pytest

from selftests.launch.story import (
    GB,
    A,
    B,
    Story,
    after_weights,
    finish,
    loaded,
    phase_of,
    reading,
    shard,
    shards,
    still,
    until_c10d,
    until_weights,
    whole,
)
from shakedown.launch.events import Opened, Stream
from shakedown.launch.status import State


def test_slow_cold_launch_becomes_ready_and_is_never_condemned() -> None:
    lines, end = whole([18.0] * 39, compile_s=600)
    story = Story()
    story.both_live(0)
    statuses = story.play(lines, end, reading())
    assert {status.state for status in statuses} == {State.RUNNING}
    assert statuses[-1].phase == "answering"
    ready = finish(story, end + 1)
    assert ready.state is State.READY
    assert ready.settled
    assert ready.first_request_s == 2.5
    assert story.watch.due is None


def test_warm_launch_shows_every_phase_of_both_nodes() -> None:
    lines, end = whole([0.5] * 39, compile_s=4, cached=True)
    story = Story()
    story.both_live(0)
    statuses = story.play(lines, end, reading(rate=0))
    assert {status.state for status in statuses} == {State.RUNNING}
    head, worker = statuses[-1].nodes
    shown = [span.phase for span in head.spans]
    assert shown[:4] == ["API process", "configuration", "engine process", "Ray attach and placement group"]
    assert {"distributed rendezvous", "weights", "model on the device"} <= {span.phase for span in worker.spans}
    assert all(span.ended is None or span.ended >= span.began for span in (*head.spans, *worker.spans))
    assert [span.ended is None for span in head.spans].count(True) == 1


def test_shards_that_come_ever_so_slowly_are_progress_even_when_no_counter_can_be_read() -> None:
    lines, end = whole([150.0] * 20, compile_s=60)
    story = Story()
    statuses = story.play(lines, end, lambda _node, _at: {})
    assert {status.state for status in statuses} == {State.RUNNING}


def test_reading_excuses_a_bar_that_does_not_move() -> None:
    lines = [*until_weights(), *shards(46, [18.0] * 4), (1500.0, A, Stream.SERVE.value, shard(5, 4))]
    story = Story()
    assert {status.state for status in story.play(lines, 1400, reading(rate=0.02 * GB, processors=0.01))} == {
        State.RUNNING
    }


def test_memory_that_fills_from_the_page_cache_is_a_sign_of_life() -> None:
    story = Story()
    statuses = story.play(
        until_weights(), 700, lambda _node, at: {"READ": 0, "CPU": 0.01 * at, "AVAILABLE": 110 * GB - at * 0.1 * GB}
    )
    assert {status.state for status in statuses} == {State.RUNNING}


def test_one_compilation_of_half_an_hour_is_work_as_long_as_a_processor_is_used() -> None:
    lines = [*until_weights(), *shards(46, [1.0] * 10), *loaded(57, 10), *after_weights(60, 1800)]
    story = Story()
    assert {status.state for status in story.play(lines, 1850, still(processors=3.0))} == {State.RUNNING}


def test_contact_lost_and_found_is_told_and_is_nothing_else() -> None:
    lines, end = whole([18.0] * 39)
    story = Story()
    story.both_live(0)
    story.play(lines, 200, reading())
    story.contact(200, B, reached=False, why="ssh: connect to host 10.1.230.181 port 22: No route to host")
    statuses = story.play(lines, 400, lambda name, at: reading()(name, at) if name == A else {}, start=201)
    assert {status.state for status in statuses} == {State.RUNNING}
    assert "No route to host" in statuses[-1].nodes[1].why
    story.contact(401, B)
    story.play(lines, end, reading(), start=402)
    assert finish(story, end + 1).state is State.READY


def test_ready_while_one_node_cannot_be_reached() -> None:
    lines, end = whole([18.0] * 39)
    story = Story(reached=(A,))
    story.contact(0, B, reached=False, why="no route")
    statuses = story.play(lines, end, lambda name, at: reading()(name, at) if name == A else {})
    assert {status.state for status in statuses} == {State.RUNNING}
    ready = finish(story, end + 1)
    assert ready.state is State.READY
    assert not ready.nodes[1].reached


def test_silence_of_a_head_that_cannot_be_heard_says_nothing() -> None:
    story = Story()
    story.play(until_weights(), 60, still())
    story.contact(61, A, reached=False, why="connection timed out")
    assert {story.status(float(at)).state for at in range(61, 5000, 60)} == {State.RUNNING}
    story.contact(5000, A)
    statuses = story.play([], 5900, still(), start=5001)
    assert statuses[-1].state is State.STALLED
    assert len(statuses) - 1 == pytest.approx(60, abs=3)


def test_attached_in_the_middle_the_past_has_its_true_times() -> None:
    lines, end = whole([18.0] * 39)
    story = Story(at=300)
    story.tell([line for line in lines if line[0] < 300], backlog=True)
    story.both_live(300)
    status = story.play(lines, end, reading(), start=300)[0]
    assert status.state is State.RUNNING
    assert status.elapsed_s == pytest.approx(300)
    assert status.phase == "weights"
    assert status.nodes[0].spans[0].began == pytest.approx(status.began)
    assert status.nodes[0].since is not None
    assert status.nodes[0].since - (status.began or 0) == pytest.approx(46, abs=1)
    assert finish(story, end + 1).state is State.READY


def test_a_launch_of_ours_is_waited_for() -> None:
    story = Story(since=0)
    story.lives(0, A, raylet=50, gcs=40)
    assert story.status(600).state is State.WAITING


def test_logs_that_are_missing_are_named_until_they_are_there() -> None:
    story = Story()
    story.feed(Opened(B, Stream.RAYLET_OUT, "/tmp/ray/raylet.out", there=False, why="No such file or directory"))
    assert story.status(1).nodes[1].missing == ("raylet.out (/tmp/ray/raylet.out): No such file or directory",)
    story.feed(Opened(B, Stream.RAYLET_OUT, "/tmp/ray/raylet.out", there=True))
    assert story.status(2).nodes[1].missing == ()


def test_the_worker_s_own_log_tells_where_its_rank_is() -> None:
    story = Story()
    story.play([line for line in until_weights() if "pid=400" not in line[3]], 60, reading())
    assert phase_of(story.status(60), B) == ""
    story.says(
        61, "(Worker_TP1 pid=400) INFO 12-01 12:01:00 [x.py:1] Loading weights took 14.00 seconds", B, Stream.WORKER
    )
    assert phase_of(story.status(61), B) == "model on the device"
    assert phase_of(story.status(61), A) == "weights"


def test_where_ray_keeps_back_lines_the_workers_own_logs_say_how_far_it_is() -> None:
    meet = "world_size=2 rank={0} local_rank=0 distributed_init_method=tcp://192.168.200.12:41213 backend=nccl"
    said = "(Worker_TP{0} pid={1}00) INFO 12-01 12:01:00 [x.py:1] " + meet
    own = [(35.0, A, Stream.WORKER.value, said.format(0, 3)), (35.0, B, Stream.WORKER.value, said.format(1, 4))]
    statuses = Story().play([line for line in until_c10d() if line[0] < 35] + own, 300, still())
    assert statuses[-1].state is State.STALLED
    assert statuses[-1].phase == "distributed rendezvous"
    assert len(statuses) - 1 == pytest.approx(35 + 30, abs=2)
