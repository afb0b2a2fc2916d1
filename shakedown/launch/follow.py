"""A launch, followed until it is ready, has failed or stands still: what drives a watch."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial

from shakedown.launch.events import Event
from shakedown.launch.gather import Gather, gather_all
from shakedown.launch.ready import Proved
from shakedown.launch.stall import Gathered
from shakedown.launch.status import State, Status
from shakedown.launch.watch import Due, Watch

_Answers = tuple[Proved | Gathered, ...]

TURN_S = 0.2
"""Between two looks: a failure is to be known within a second of its first sign."""


@dataclass(frozen=True, slots=True)
class Asking:
    """What is asked besides the streams.

    Attributes:
        prove: asks for one token, see `shakedown.launch.ready.prove`.
        gather: asks one node why nothing moves, see `shakedown.launch.gather.gatherer`.
    """

    prove: Callable[[], Proved]
    gather: Gather


def follow(
    watch: Watch,
    events: queue.SimpleQueue[Event],
    asking: Asking,
    show: Callable[[Status], None],
    *,
    deadline_s: float | None = None,
    clock: Callable[[], float] = time.time,
) -> Status:
    """Feed the watch until its status is settled, or a standstill is explained, or time is up.

    Args:
        watch: that is driven.
        events: from `shakedown.launch.streams.Streams`.
        asking: what the watch may ask for.
        show: told every status.
        deadline_s: how long at most, s; the last status is returned then, whatever it is.
        clock: seconds since the epoch.

    Returns:
        The last status.
    """
    end = None if deadline_s is None else clock() + deadline_s
    asked: Future[_Answers] | None = None
    while True:
        _take(watch, events)
        if asked is not None and asked.done():
            for answer in asked.result():
                watch.feed(answer)
            asked = None
        status = watch.status(clock())
        show(status)
        if status.settled or _explained(watch, status) or (end is not None and clock() >= end):
            return status
        if asked is None and watch.due is not None:
            asked = _beside(partial(_ask, watch, watch.due, asking, clock))


def _take(watch: Watch, events: queue.SimpleQueue[Event]) -> None:
    """Everything that is there; waits for the first."""
    shown = time.monotonic() + 2 * TURN_S  # a backlog may be long, and people want to see something
    try:
        watch.feed(events.get(timeout=TURN_S))
        while time.monotonic() < shown:
            watch.feed(events.get_nowait())
    except queue.Empty:
        return


def _explained(watch: Watch, status: Status) -> bool:
    """Whether a standstill is told with all that can be known of it."""
    return status.state is State.STALLED and watch.due is None


def _ask(watch: Watch, due: Due, asking: Asking, clock: Callable[[], float]) -> _Answers:
    if due is Due.PROOF:
        return (asking.prove(),)
    return gather_all(watch.known.deployment.node, asking.gather, clock)


def _beside(ask: Callable[[], _Answers]) -> Future[_Answers]:
    """Ask in a thread that nobody waits for: a request may take minutes, a deadline or Ctrl-C must not."""
    answer: Future[_Answers] = Future()

    def run() -> None:
        try:
            answer.set_result(ask())
        except BaseException as error:  # noqa: BLE001 - raised again where the answer is taken
            answer.set_exception(error)

    threading.Thread(target=run, name="asks for the watch", daemon=True).start()
    return answer
