"""A launch that stands still is told as that, within its limit and with what it waits for."""

from __future__ import annotations

import pytest

from selftests.launch.story import (
    GB,
    A,
    B,
    Story,
    after_weights,
    engine,
    loaded,
    phase_of,
    rank,
    reading,
    shard,
    shards,
    still,
    told_by_nobody,
    until_c10d,
    until_weights,
    whole,
)
from shakedown.launch.events import Stream
from shakedown.launch.status import State
from shakedown.launch.watch import Due


def test_a_compilation_without_a_processor_stands_still_after_ten_minutes() -> None:
    lines = [*until_weights(), *shards(46, [1.0] * 10), *loaded(57, 10), *after_weights(60, 1800)]
    statuses = Story().play(lines, 1850, still())
    assert statuses[-1].state is State.STALLED
    assert len(statuses) == pytest.approx(62 + 600, abs=3)


def test_silence_in_the_rendezvous_is_told_after_its_limit_with_the_socket_that_waits() -> None:
    story = Story()
    statuses = story.play(until_c10d(address="10.1.230.180"), 300, still())
    assert statuses[-1].state is State.STALLED
    assert len(statuses) - 1 == pytest.approx(35 + 30, abs=2)
    assert story.watch.due is Due.EVIDENCE
    story.gathers(66, A, "== waiting sockets\n== environment of ray\n--node_ip_address=192.168.200.12\n")
    story.gathers(
        66,
        B,
        "== waiting sockets\n"
        '0 1 [::ffff:10.1.230.181]:41000 [::ffff:10.1.230.180]:41213 users:(("ray::Ray",pid=400,fd=9))\n'
        "== environment of ray\n--node_ip_address=192.168.200.13\nVLLM_HOST_IP=192.168.200.13\n",
    )
    status = story.status(67)
    assert status.explanation is not None
    assert (status.explanation.fault, status.explanation.node) == ("RAY-02", A)
    assert "SYN-SENT 10.1.230.181 -> 10.1.230.180:41213 by ray::Ray (400)" in "\n".join(status.explanation.evidence)
    assert "10.1.230.180" in status.explanation.line
    assert "tests_infra/" in status.explanation.check
    assert story.watch.due is None


def test_a_processor_that_spins_excuses_no_hang_of_the_rendezvous() -> None:
    story = Story()
    statuses = story.play(until_c10d(), 300, still(processors=2.0))
    assert statuses[-1].state is State.STALLED
    assert len(statuses) - 1 == pytest.approx(35 + 120, abs=2)
    assert told_by_nobody(story, 156) == "NET-16"


def test_nccl_that_spins_is_told_after_a_minute() -> None:
    lines = [*until_c10d(), (37, A, Stream.SERVE.value, rank(0, "vLLM is using nccl==2.28.3"))]
    story = Story()
    statuses = story.play(lines, 300, still(processors=2.0))
    assert statuses[-1].state is State.STALLED
    assert len(statuses) - 1 == pytest.approx(37 + 60, abs=2)
    assert told_by_nobody(story, 98) == "NET-17"


def test_heartbeats_of_those_who_wait_are_no_sign_of_life() -> None:
    beat = engine("No available shared memory broadcast block found in 60 seconds. This typically happens when")
    beats = [(float(at), A, Stream.SERVE.value, beat) for at in range(60, 600, 20)]
    lines = [*until_c10d(), (37, A, Stream.SERVE.value, rank(0, "vLLM is using nccl==2.28.3")), *beats]
    statuses = Story().play(lines, 600, still())
    assert statuses[-1].state is State.STALLED
    assert len(statuses) - 1 == pytest.approx(37 + 60, abs=2)


def test_a_network_disk_that_is_cut_off_is_a_standstill_though_the_other_rank_spins() -> None:
    def counters(name: str, at: float) -> dict[str, float]:
        cut = min(at, 200.0)
        spins = 1.5 if name == A else 0.01
        return {"READ": 0.5 * GB * (cut if name == B else min(at, 150.0)), "CPU": spins * at, "FABRIC": 40e3 * at}

    lines = [*until_weights(), *shards(46, [5.0] * 20), *loaded(150, 100, ranks=(0,))]
    story = Story()
    statuses = story.play(lines, 900, counters)
    assert statuses[-1].state is State.STALLED
    assert len(statuses) - 1 == pytest.approx(200 + 60, abs=3)
    assert phase_of(statuses[-1], B) == "weights"
    assert "'weights' has made no progress" in statuses[-1].notes[0]
    assert told_by_nobody(story, 262) is None
    explanation = story.status(262).explanation
    assert explanation is not None
    assert any(line.startswith(f"{A}: 1.5 processors") for line in explanation.evidence)


def test_a_standstill_that_ends_is_a_launch_that_goes_on() -> None:
    story = Story()
    story.play([*until_weights(), *shards(46, [5.0] * 3)], 300, still())
    assert story.status(130).state is State.STALLED
    story.gathers(131, A, "== memory\n")
    story.says(140, shard(2, 3))
    story.says(141, shard(3, 3))
    assert story.status(142).state is State.RUNNING
    assert story.watch.due is None


def test_a_stopped_process_is_told_at_once_as_what_it_is() -> None:
    story = Story()
    story.both_live(0)
    story.play([*until_weights(), *shards(46, [18.0] * 39)], 100, reading())
    story.lives(101, B, worker=400, raylet=60, stopped=(400,))
    assert story.status(101.5).state is State.RUNNING, "a debugger that looks at a stack stops a process for a moment"
    status = story.status(102)
    assert status.state is State.STALLED
    assert status.explanation is not None
    assert status.explanation.node == B
    assert "the worker on spark-b (process 400)" in status.explanation.line
    assert "kill -CONT 400" in status.explanation.remedy
    story.lives(110, B, worker=400, raylet=60)
    assert story.status(110).state is State.RUNNING


def test_a_log_that_says_ready_while_nobody_answers_is_told() -> None:
    lines, end = whole([1.0] * 10)
    story = Story()
    story.play(lines, end, reading())
    story.answers(end + 1, health=None, why="Connection refused")
    statuses = story.play([], end + 200, still(), start=end + 1)
    assert statuses[-1].state is State.STALLED
    at = end + 1 + len(statuses)
    assert told_by_nobody(story, at) == "SRV-06"
    explanation = story.status(at).explanation
    assert explanation is not None
    assert "Connection refused" in explanation.line


def test_what_ray_s_daemons_write_is_no_sign_of_the_engine_s_life() -> None:
    dump = "[2026-12-01 12:05:00,000 I 60 60] (raylet) node_manager.cc:610: [state-dump] NodeManager: memory usage"
    dumps = [(float(at), B, Stream.RAYLET_OUT.value, dump) for at in range(40, 300, 10)]
    statuses = Story().play([*until_c10d(), *dumps], 300, still())
    assert statuses[-1].state is State.STALLED
    assert len(statuses) - 1 == pytest.approx(35 + 30, abs=2)
