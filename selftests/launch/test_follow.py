"""What drives a watch: it feeds, asks when asked to, shows, and ends."""

from __future__ import annotations

import queue
import subprocess
import sys
import threading
import time
from collections.abc import Sequence

import pytest

from selftests.launch.story import GB, A, B, Line, pair, until_c10d, whole
from shakedown.engines.vllm.phases import PhaseName
from shakedown.faults.lines import LogLine
from shakedown.inventory.model import Node
from shakedown.launch.events import Answered, Contact, Counter, Event, Logged, Sampled
from shakedown.launch.follow import Asking, follow
from shakedown.launch.limits import Limit, Limits
from shakedown.launch.ready import Proved
from shakedown.launch.status import State, Status
from shakedown.launch.watch import Watch


def events(lines: Sequence[Line], *more: Event) -> queue.SimpleQueue[Event]:
    """Lines of a launch that ends now, and more behind them."""
    now = time.time()
    last = lines[-1][0] if lines else 0.0
    found: queue.SimpleQueue[Event] = queue.SimpleQueue()
    for node in (A, B):
        found.put(Contact(node, now - last, True, "", 0.0))
    for at, node, stream, text in lines:
        found.put(Logged(LogLine(node, stream, "log", now - last + at, text)))
    for event in more:
        found.put(event)
    return found


def never() -> Proved:
    raise AssertionError("nobody asked for a token")


def nobody(_node: Node) -> str:
    raise AssertionError("nobody asked for evidence")


def test_a_launch_that_answers_is_proved_once_and_ready() -> None:
    asked: list[float] = []
    shown: list[Status] = []

    def prove() -> Proved:
        asked.append(time.time())
        return Proved(time.time(), 1, 2.0)

    lines, _ = whole([0.1] * 10)
    answered = Answered(time.time(), 200, (pair().model.served_name,))
    status = follow(Watch(pair()), events(lines, answered), Asking(prove, nobody), shown.append, deadline_s=30)
    assert status.state is State.READY
    assert len(asked) == 1
    assert shown[-1] == status
    assert {one.state for one in shown[:-1]} == {State.RUNNING}


def test_a_standstill_is_told_when_every_node_was_asked_why() -> None:
    asked: list[str] = []

    def gather(node: Node) -> str:
        asked.append(node.name)
        return f"== waiting sockets\n0 1 {node.fabric_address}:4 10.1.230.181:41213\n"

    now = time.time()
    counted = [Sampled(node, now + at, {Counter.CPU: 1.0, Counter.READ: GB}) for node in (A, B) for at in (0, 0.1)]
    limits = Limits(phases={PhaseName.C10D: Limit(0.5, 0.5)})
    watch = Watch(pair(), limits)
    status = follow(watch, events(until_c10d(), *counted), Asking(never, gather), lambda _: None, deadline_s=30)
    assert status.state is State.STALLED
    assert sorted(asked) == [A, B]
    assert status.explanation is not None
    assert status.explanation.fault == "RAY-02"


def test_a_failure_ends_it_as_soon_as_no_better_explanation_can_come() -> None:
    killed = "(raylet) ray.exceptions.OutOfMemoryError: Task was killed due to the node running low on memory."
    lines: list[Line] = [*until_c10d(), (35, B, "raylet.out", killed)]
    shown: list[Status] = []
    status = follow(Watch(pair()), events(lines), Asking(never, nobody), shown.append, deadline_s=30)
    assert (status.state, status.settled) == (State.FAILED, True)
    failed = [one for one in shown if one.state is State.FAILED]
    assert failed[0].updated_at - shown[0].updated_at < 1
    assert 4 < failed[-1].updated_at - failed[0].updated_at < 8


def test_time_that_is_up_ends_it_with_what_is_known() -> None:
    status = follow(Watch(pair()), events(until_c10d()), Asking(never, nobody), lambda _: None, deadline_s=0.3)
    assert status.state is State.RUNNING
    assert status.phase == "distributed rendezvous"


FOR_EVER = """
import threading, time
from selftests.launch.test_follow import events, follow, nobody, pair, whole, Answered, Asking, Watch

lines, _ = whole([0.1] * 10)
answered = Answered(time.time(), 200, (pair().model.served_name,))
asked = threading.Event()


def prove():
    asked.set()
    threading.Event().wait()


follow(Watch(pair()), events(lines, answered), Asking(prove, nobody), lambda _: None, deadline_s=1)
print("asked" if asked.is_set() else "nobody asked")
"""


def test_a_request_without_an_answer_does_not_keep_the_program_from_its_end() -> None:
    done = subprocess.run([sys.executable, "-c", FOR_EVER], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, "asked\n"), done.stderr


def test_an_error_of_an_asker_is_not_swallowed() -> None:
    lines, _ = whole([0.1] * 10)
    answered = Answered(time.time(), 200, (pair().model.served_name,))
    with pytest.raises(AssertionError, match="nobody asked for a token"):
        follow(Watch(pair()), events(lines, answered), Asking(never, nobody), lambda _: None, deadline_s=30)


def test_a_long_backlog_keeps_nobody_waiting() -> None:
    found = events([])
    ended = threading.Event()

    def flood() -> None:
        while not ended.is_set():
            found.put(Logged(LogLine(A, "serve log", "log", time.time(), "a line that says nothing"), True))

    thread = threading.Thread(target=flood)
    thread.start()
    shown: list[Status] = []
    follow(Watch(pair()), found, Asking(never, nobody), shown.append, deadline_s=2)
    ended.set()
    thread.join()
    assert len(shown) >= 2, "a backlog without end kept the status from being shown"
