"""Frames of a follower become events: bytes become lines, moments of its clock become moments of ours."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from shakedown.engines.vllm.phases import Splitter, lines_of
from shakedown.faults.lines import LogLine
from shakedown.launch.clock import Clock
from shakedown.launch.events import Counter, Event, Logged, Opened, Processes, Sampled, Stream
from shakedown.launch.stamps import stamp_of
from shakedown.launch.wire import data_of
from shakedown.nodes.redact import redact

FLUSH_S = 2.0
"""How long a line may lack its end: a question that waits for its answer has none."""

FLUSH_LOST_S = 10.0
"""The same where nobody is heard of: the end may have been written."""

ZONE_WAIT_S = 3.0
"""How long a log that lies on the machine, written by a container, waits for the container's time zone."""


class Zone:
    """How far local time is ahead of UTC where the engine of one node runs, once that is known."""

    def __init__(self) -> None:
        self._known = threading.Event()
        self._seconds = 0.0
        self._patience_s = ZONE_WAIT_S

    def set(self, seconds: float) -> None:
        """Found out, by the follower that runs there."""
        self._seconds = seconds
        self._known.set()

    def seconds(self) -> float:
        """The offset, s; UTC, as containers have it, where it cannot be found out."""
        self._known.wait(self._patience_s)
        self._patience_s = 0.0
        return self._seconds


@dataclass(slots=True)
class _Source:
    """What is known of one file: the line that has begun, and when its last lines were written."""

    stream: Stream
    name: str
    splitter: Splitter = field(default_factory=Splitter)
    at: float | None = None
    backlog: bool = False
    fed: float = 0.0


class Intake:
    """Takes frames of one follower, across all its connections.

    Args:
        node: its node.
        zone: of the engine's place there.
        emit: takes events.

    Attributes:
        positions: how far each source has come, for the next order.
    """

    def __init__(self, node: str, zone: Zone, emit: Callable[[Event], None]) -> None:
        self.positions: dict[str, Any] = {}
        self._node = node
        self._zone = zone
        self._emit = emit
        self._sources: dict[str, _Source] = {}
        self._bases: dict[Counter, float] = {}
        self._last: dict[Counter, float] = {}

    def take(self, frame: Mapping[str, Any], clock: Clock) -> None:
        """Turn one frame into events."""
        kind = frame["k"]
        if kind == "drop":
            self._drop(frame["key"])
        elif kind == "open":
            why = frame["why"]
            self._emit(Opened(self._node, Stream(frame["s"]), frame["f"], there=why is None, why=why or ""))
        else:
            takes = {"data": self._data, "rows": self._rows, "sample": self._sample, "procs": self._processes}
            takes[kind](frame, clock)

    def flush(self, after_s: float) -> None:
        """Give out lines that have lacked their end for so long."""
        now = time.monotonic()
        for source in self._sources.values():
            if source.splitter.waits and now - source.fed > after_s:
                self._log(source, source.splitter.flush())

    def resume(self) -> None:
        """A new connection follows from here on: what was missed has not come yet."""
        for source in self._sources.values():
            source.fed = time.monotonic()

    def _data(self, frame: Mapping[str, Any], clock: Clock) -> None:
        source = self._sources.setdefault(frame["key"], _Source(Stream(frame["s"]), frame["f"]))
        if frame["cut"]:
            self._log(source, source.splitter.flush())
        at = clock.here(frame["at"])
        lines = source.splitter.feed(data_of(frame))
        source.backlog, source.fed = frame["old"], time.monotonic()
        if frame["old"]:
            self._log_old(source, lines, at, clock)
        else:
            source.at = at
            self._log(source, lines)
        self.positions[frame["key"]] = frame["pos"]

    def _rows(self, frame: Mapping[str, Any], clock: Clock) -> None:
        source = _Source(Stream(frame["s"]), frame["f"], backlog=frame["old"])
        for at, text in frame["rows"]:
            source.at = clock.here(at)
            self._log(source, lines_of(text))
        self.positions[frame["key"]] = frame["pos"]

    def _drop(self, key: str) -> None:
        source = self._sources.pop(key, None)
        if source:
            self._log(source, source.splitter.flush())
        self.positions.pop(key, None)

    def _sample(self, frame: Mapping[str, Any], clock: Clock) -> None:
        values = {counter: self._growing(counter, value) for counter, value in _named(frame["values"])}
        if values:
            self._emit(Sampled(self._node, clock.here(frame["at"]), values))

    def _growing(self, counter: Counter, value: float) -> float:
        """What only grows goes on from where it was when a process ended or a device was set up anew."""
        if counter is Counter.AVAILABLE:
            return value
        last = self._last.get(counter, 0.0)
        if value + self._bases.get(counter, 0.0) < last:
            self._bases[counter] = last - value
        self._last[counter] = value + self._bases.get(counter, 0.0)
        return self._last[counter]

    def _processes(self, frame: Mapping[str, Any], clock: Clock) -> None:
        alive = {kind: tuple(pids) for kind, pids in frame["alive"].items()}
        at = clock.here(frame["at"])
        self._emit(Processes(self._node, at, alive, tuple(frame["stopped"]), frame["owner"]))

    def _log_old(self, source: _Source, lines: list[str], latest: float, clock: Clock) -> None:
        """Lines of a backlog: each at its stamp, else at the stamp before it, and none after the file was changed."""
        zone_s = self._zone.seconds() if lines else 0.0
        for line in lines:
            stamp = stamp_of(line, zone_s, latest)
            if stamp is not None:
                source.at = min(clock.here(stamp), latest)
            elif source.at is None:
                self._log_at(source, line, latest)
                continue
            self._log(source, [line])

    def _log(self, source: _Source, lines: Iterable[str]) -> None:
        for line in lines:
            self._log_at(source, line, source.at if source.at is not None else time.time())

    def _log_at(self, source: _Source, line: str, at: float) -> None:
        text = redact(line.encode()).decode(errors="replace")
        self._emit(Logged(LogLine(self._node, source.stream.value, source.name, at, text), source.backlog))


def _named(values: Mapping[str, float]) -> list[tuple[Counter, float]]:
    return [(Counter[name], value) for name, value in values.items()]
