"""One follower of this machine, or of any other place, and what it tells."""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

from selftests.nodes.machines import eventually
from shakedown.launch.events import Event, Logged, Stream
from shakedown.launch.follower import FollowerThread
from shakedown.launch.intake import Zone
from shakedown.launch.places import Place
from shakedown.nodes.transport import Local, Transport

PYTHON = "/usr/bin/python3"
NOTHING: dict[str, Any] = {
    "files": [],
    "processes": False,
    "port": None,
    "interface": None,
    "hcas": [],
    "kernel": False,
    "container": None,
}

One = TypeVar("One", bound=Event)


class Through(Local):
    """This machine, with the process id of the last follower kept, and its script changed where a test asks for it."""

    def __init__(self, pid_file: Path, change: Callable[[str], str] = str) -> None:
        super().__init__()
        self._pid_file = pid_file
        self._change = change
        self.closed = threading.Event()

    def argv(self, script: str) -> list[str]:
        if self.closed.is_set():
            return ["sh", "-c", "echo 'ssh: connect to host x port 22: No route to host' >&2; exit 255"]
        return super().argv(f"echo $$ > {self._pid_file}\n{self._change(script)}")

    @property
    def pid(self) -> int:
        return int(self._pid_file.read_text())

    def cut(self) -> None:
        """Kill the follower, wherever it stands."""
        with contextlib.suppress(ProcessLookupError, ValueError, FileNotFoundError):
            os.kill(self.pid, signal.SIGKILL)


class Told:
    """All events so far."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.queue: queue.SimpleQueue[Event] = queue.SimpleQueue()

    def all(self, kind: type[One]) -> list[One]:
        """Those of one kind."""
        while not self.queue.empty():
            self.events.append(self.queue.get())
        return [event for event in self.events if isinstance(event, kind)]

    def texts(self, stream: Stream | None = None) -> list[str]:
        """Lines, of one log or of all."""
        return [told.line.text for told in self.all(Logged) if stream in (None, told.line.stream)]

    def wait(self, kind: type[One], what: Callable[[One], bool] = lambda _: True, timeout_s: float = 20) -> One:
        """The first of a kind that is so, as soon as it comes."""
        try:
            eventually(lambda: any(map(what, self.all(kind))), f"such a {kind.__name__}", timeout_s)
        except AssertionError as error:
            raise AssertionError(f"{error}; told: {self.events}") from None
        return next(event for event in self.all(kind) if what(event))

    def wait_line(self, text: str, timeout_s: float = 20) -> Logged:
        """The first line that holds a text."""
        return self.wait(Logged, lambda event: text in event.line.text, timeout_s)


@contextlib.contextmanager
def following(
    transport: Transport,
    words: Sequence[str] = (),
    pythons: tuple[str, ...] = (PYTHON, "python3"),
    **order: Any,
) -> Iterator[Told]:
    """A follower at work; all has ended behind it."""
    told = Told()
    stopped = threading.Event()
    place = Place("node", transport, pythons, None, runs_engine=True, order={**NOTHING, **order})
    thread = FollowerThread(place, words, Zone(), told.queue.put, stopped)
    thread.start()
    try:
        yield told
    finally:
        stopped.set()
        thread.join(15)
        assert not thread.is_alive()


def append(file: Path, text: str | bytes) -> None:
    """Write on, as a server does."""
    with file.open("ab") as log:
        log.write(text.encode() if isinstance(text, str) else text)


def sleep_past_polls() -> None:
    """Long enough for the follower to have looked several times."""
    time.sleep(0.35)
