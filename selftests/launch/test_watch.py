"""The rules of a watch, on launches told as events."""

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
    rank,
    reading,
    shard,
    shards,
    still,
    until_c10d,
    until_ray,
    until_weights,
    whole,
)
from shakedown.launch.events import Opened, Stream
from shakedown.launch.status import State, Status
from shakedown.launch.watch import Due

KILLED = (
    "[2026-12-01 12:05:00,000 E 60 60] (raylet) node_manager.cc:3000: 1 Workers (tasks / actors) killed due to memory "
    "pressure (OOM), 0 Workers crashed due to other reasons at node (ID: 1, IP: 192.168.200.13)"
)
KILLED_NEW = "(raylet) ray.exceptions.OutOfMemoryError: Task was killed due to the node running low on memory."


def node(status: Status, name: str) -> str:
    return next(one.phase for one in status.nodes if one.name == name)


def told_by_nobody(story: Story, at: float) -> str | None:
    """The fault that a standstill is laid to when no node has anything to say."""
    story.gathers(at, A, "== memory\n")
    explanation = story.status(at).explanation
    assert explanation is not None
    return explanation.fault


def finish(story: Story, at: float) -> Status:
    story.answers(at)
    assert story.status(at).state is State.RUNNING
    assert story.watch.due is Due.PROOF
    story.proves(at + 3)
    return story.status(at + 3)


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
    assert node(statuses[-1], B) == "weights"
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


def test_a_server_that_is_killed_without_a_word_is_a_failure_after_the_grace() -> None:
    story = Story()
    story.both_live(0)
    story.play([*until_weights(), *shards(46, [18.0] * 39)], 300, reading())
    story.lives(300, A, engine=200, worker=300, raylet=50, gcs=40)
    assert story.status(301).state is State.RUNNING
    assert story.status(302).state is State.RUNNING
    status = story.status(307.5)
    assert status.state is State.FAILED
    assert status.explanation is not None
    assert status.explanation.fault == "SRV-11"


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


def test_a_process_that_takes_another_name_has_not_ended() -> None:
    story = Story()
    story.both_live(0)
    story.play(until_weights(), 60, reading())
    story.lives(60, B, raylet=60)
    assert story.status(61).state is State.RUNNING
    story.lives(61.2, B, worker=400, raylet=60)
    assert {story.status(61 + at).state for at in range(20)} == {State.RUNNING}


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


def test_a_launch_of_ours_is_waited_for() -> None:
    story = Story(since=0)
    story.lives(0, A, raylet=50, gcs=40)
    assert story.status(600).state is State.WAITING


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


def test_logs_that_are_missing_are_named_until_they_are_there() -> None:
    story = Story()
    story.feed(Opened(B, Stream.RAYLET_OUT, "/tmp/ray/raylet.out", there=False, why="No such file or directory"))
    assert story.status(1).nodes[1].missing == ("raylet.out (/tmp/ray/raylet.out): No such file or directory",)
    story.feed(Opened(B, Stream.RAYLET_OUT, "/tmp/ray/raylet.out", there=True))
    assert story.status(2).nodes[1].missing == ()


def test_the_worker_s_own_log_tells_where_its_rank_is() -> None:
    story = Story()
    story.play([line for line in until_weights() if "pid=400" not in line[3]], 60, reading())
    assert node(story.status(60), B) == ""
    story.says(
        61, "(Worker_TP1 pid=400) INFO 12-01 12:01:00 [x.py:1] Loading weights took 14.00 seconds", B, Stream.WORKER
    )
    assert node(story.status(61), B) == "model on the device"
    assert node(story.status(61), A) == "weights"


def api_line(text: str) -> str:
    return f"(APIServer pid=100) INFO 12-01 12:00:00 [launcher.py:1] {text}"


def test_what_ray_s_daemons_write_is_no_sign_of_the_engine_s_life() -> None:
    dump = "[2026-12-01 12:05:00,000 I 60 60] (raylet) node_manager.cc:610: [state-dump] NodeManager: memory usage"
    dumps = [(float(at), B, Stream.RAYLET_OUT.value, dump) for at in range(40, 300, 10)]
    statuses = Story().play([*until_c10d(), *dumps], 300, still())
    assert statuses[-1].state is State.STALLED
    assert len(statuses) - 1 == pytest.approx(35 + 30, abs=2)


def test_where_ray_keeps_back_lines_the_workers_own_logs_say_how_far_it_is() -> None:
    meet = "world_size=2 rank={0} local_rank=0 distributed_init_method=tcp://192.168.200.12:41213 backend=nccl"
    said = "(Worker_TP{0} pid={1}00) INFO 12-01 12:01:00 [x.py:1] " + meet
    own = [(35.0, A, Stream.WORKER.value, said.format(0, 3)), (35.0, B, Stream.WORKER.value, said.format(1, 4))]
    statuses = Story().play([line for line in until_c10d() if line[0] < 35] + own, 300, still())
    assert statuses[-1].state is State.STALLED
    assert statuses[-1].phase == "distributed rendezvous"
    assert len(statuses) - 1 == pytest.approx(35 + 30, abs=2)
