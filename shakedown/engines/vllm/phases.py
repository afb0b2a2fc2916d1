"""The start of vLLM as its log tells it: phases with their begin and end, and how many shards are loaded.

Lines are recognised by their message and never by file and line, since those move between versions; verbs and units
are matched loosely, since they are reworded (0.17: ``torch.compile takes x s``, 0.32: ``took``). Bars redraw
themselves with carriage returns, workers prefix their lines, colours may be on: none of it matters here.

Stamps have a resolution of one second and no year. A line without one (bars, uvicorn's) counts as written at the last
stamp before it. Lines of a worker on another node carry that node's clock.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import Enum


class PhaseName(Enum):
    """Phases in the order of a start; the value is their name for people."""

    PROCESS = "API process and configuration"
    ENGINE = "engine process"
    RAY = "Ray attach and start of the workers"
    C10D = "distributed rendezvous"
    NCCL = "NCCL communicators"
    WEIGHTS = "weights"
    MODEL = "model on the device"
    COMPILE = "compilation"
    KV_CACHE = "KV cache"
    GRAPHS = "graph capture"
    ENGINE_READY = "engine ready"
    API = "API server"
    READY = "answering"

    @property
    def order(self) -> int:
        """Position in a start, 0 first."""
        return _ORDER[self]


_ORDER = {name: place for place, name in enumerate(PhaseName)}

_SHARDS = re.compile(r"(?:Loading|Multi-thread loading).{0,60}?shards.{0,80}?\b(\d{1,7})/(\d{1,7})\b")
_STARTS: tuple[tuple[PhaseName, re.Pattern[str]], ...] = tuple(
    (name, re.compile(pattern))
    for name, pattern in (
        (PhaseName.ENGINE, r"Initializing a V1 LLM engine"),
        (PhaseName.PROCESS, r"non-default args:|vLLM (?:API )?server version"),
        (PhaseName.READY, r"Application startup complete"),
        (PhaseName.API, r"Starting vLLM (?:API )?server(?: \d+)? on|Available routes are:"),
        (PhaseName.ENGINE_READY, r"init engine \(.{0,80}\) (?:takes?|took)"),
        (PhaseName.GRAPHS, r"Capturing (?:CUDA graphs|prefill|decode)"),
        (PhaseName.KV_CACHE, r"Available KV cache memory|KV cache size: [\d,]+ tokens"),
        (
            PhaseName.COMPILE,
            r"for vLLM's torch\.compile|Dynamo bytecode transform|Starting torch\.compile|Compiling a graph|"
            r"Directly load the compiled graph|Warming up model for the compilation",
        ),
        (PhaseName.MODEL, r"Loading weights (?:takes?|took)"),
        (
            PhaseName.WEIGHTS,
            r"Starting to load model|Checkpoint size:|Loading .{0,60}shards:|Multi-thread loading .{0,40}shards",
        ),
        (PhaseName.NCCL, r"vLLM is using nccl=="),
        (PhaseName.C10D, r"world_size=\d+ rank=\d+ .{0,40}distributed_init_method="),
        (PhaseName.RAY, r"existing Ray cluster|Connected to Ray cluster|placement group"),
    )
)
"""Begin of each phase. The two lines that print a whole configuration come first: they may hold any other words."""

_BEGIN = re.compile(r"\] non-default args: ")
"""Every start prints it once; a second one in the same log is a second start."""

_VERSION = re.compile(r"Initializing a V1 LLM engine \(v([^)\s]{1,64})\)")

_AFTER = {PhaseName.WEIGHTS: PhaseName.C10D, PhaseName.GRAPHS: PhaseName.COMPILE}
"""Phases that a bar can begin, and what must have been seen before: bars are not stamped, and those of Ray's workers
come in ahead of stamped lines that were written earlier."""

WORDS = (
    "non-default args:",
    "server version",
    "LLM engine",
    "Ray cluster",
    "placement group",
    "distributed_init_method=",
    "nccl==",
    "load model",
    "Checkpoint size:",
    "shards",
    "Loading weights",
    "torch.compile",
    "Dynamo bytecode",
    "Compiling a graph",
    "compiled graph",
    "for the compilation",
    "KV cache size",
    "KV cache memory",
    "Capturing",
    "init engine",
    "vLLM server",
    "vLLM API server",
    "Available routes",
    "Route: ",
    "startup complete",
)
"""Every line that means something here holds one of these, so that a long log can be sifted where it lies. The routes
are there for their stamps: the line that says the API answers has none."""

_COLOUR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_STAMP = re.compile(
    r"\b(?:DEBUG|INFO|WARNING|ERROR|CRITICAL) (?P<short>\d\d-\d\d \d\d:\d\d:\d\d)\b"
    r"|\b\d{4}-(?P<long>\d\d-\d\d \d\d:\d\d:\d\d),\d{3}\b"
)
_LEAP_YEAR = 2000
_NEW_YEAR = timedelta(days=180)


@dataclass(frozen=True, slots=True)
class Phase:
    """One phase of a start.

    Attributes:
        name: which.
        started_s: since the first line of this start, s.
        ended_s: beginning of the next phase that showed itself, s; None while it lasts.
    """

    name: PhaseName
    started_s: float
    ended_s: float | None

    @property
    def took_s(self) -> float | None:
        """Duration, s; None while it lasts."""
        return None if self.ended_s is None else self.ended_s - self.started_s


@dataclass(frozen=True, slots=True)
class Shards:
    """Progress of the weights: rank 0 is the only one that shows it."""

    done: int
    total: int


@dataclass(frozen=True, slots=True)
class Start:
    """One start of the server.

    Attributes:
        first_stamp: of its first stamped line, as written (``12-01 03:01:22``).
        phases: those that showed themselves, in order; eager mode has no graphs, a warm cache no compilation.
        shards: last progress seen; None where no bar was drawn.
        version: of the engine, as it names itself; None until it has.
    """

    first_stamp: str
    phases: tuple[Phase, ...]
    shards: Shards | None
    version: str | None

    @property
    def total_s(self) -> float | None:
        """From the first line to ``Application startup complete``, s; None if it never got there."""
        last = self.phases[-1] if self.phases else None
        return last.started_s if last is not None and last.name is PhaseName.READY else None

    def phase(self, name: PhaseName) -> Phase | None:
        """That phase, None if it did not show itself."""
        return next((phase for phase in self.phases if phase.name is name), None)


@dataclass(slots=True)
class _Building:
    first: datetime
    first_stamp: str
    begun: bool = False
    marks: list[tuple[PhaseName, float]] = field(default_factory=lambda: [(PhaseName.PROCESS, 0.0)])
    shards: Shards | None = None
    version: str | None = None

    @property
    def reached(self) -> PhaseName:
        """The latest phase so far."""
        return self.marks[-1][0]

    def built(self) -> Start:
        ends = [at for _, at in self.marks[1:]] + [None]
        phases = (Phase(name, at, end) for (name, at), end in zip(self.marks, ends, strict=True))
        return Start(self.first_stamp, tuple(phases), self.shards, self.version)


class PhaseReader:
    """Reads a log line by line, as it grows. More lines only ever add to what was said of a start."""

    def __init__(self) -> None:
        self._starts: list[_Building] = []
        self._now: datetime | None = None
        self._stamp = ""

    @property
    def starts(self) -> tuple[Start, ...]:
        """Every start that the log tells of, oldest first; a log may be appended to by many."""
        return tuple(building.built() for building in self._starts)

    def feed(self, line: str) -> None:
        """Take in one line, without its ending."""
        text = _COLOUR.sub("", line)
        stamped = self._read_stamp(text)
        if self._now is None:
            return
        start = self._start_of(text, self._now)
        name = next((name for name, pattern in _STARTS if pattern.search(text)), None)
        if name is not None and name.order > start.reached.order and (stamped or _may_begin(name, start.reached)):
            start.marks.append((name, (self._now - start.first).total_seconds()))
        if name is PhaseName.ENGINE and (version := _VERSION.search(text)):
            start.version = version[1]
        shards = _SHARDS.search(text)
        if shards:
            start.shards = _further(start.shards, Shards(int(shards[1]), int(shards[2])))

    def _start_of(self, text: str, now: datetime) -> _Building:
        begins = bool(_BEGIN.search(text))
        if not self._starts or (begins and self._starts[-1].begun):
            self._starts.append(_Building(now, self._stamp))
        self._starts[-1].begun |= begins
        return self._starts[-1]

    def _read_stamp(self, text: str) -> bool:
        match = _STAMP.search(text)
        if match is None:
            return False
        stamp = match["short"] or match["long"]
        year = self._now.year if self._now else _LEAP_YEAR
        try:
            at = _dated(stamp, year)
            if self._now is not None and self._now - at > _NEW_YEAR:
                at = _dated(stamp, year + 1)
        except ValueError:
            return False
        if self._now is None or at >= self._now:  # streams of two processes interleave; a start never runs backwards
            self._now, self._stamp = at, stamp
        return True


def _may_begin(name: PhaseName, reached: PhaseName) -> bool:
    """Whether a line without a stamp may begin that phase."""
    return name not in _AFTER or reached.order >= _AFTER[name].order


def _dated(stamp: str, year: int) -> datetime:
    return datetime.strptime(f"{year:04d}-{stamp}", "%Y-%m-%d %H:%M:%S")  # noqa: DTZ007 - the log names no zone


def _further(before: Shards | None, now: Shards) -> Shards:
    if before is None or (now.total == before.total and now.done > before.done):
        return now
    return before


def lines_of(text: str) -> Iterator[str]:
    """Lines of a log; a bar that redraws itself gives one for each time it was drawn."""
    yield from re.split(r"[\r\n]+", text)


def starts_of(log: str) -> tuple[Start, ...]:
    """Every start that a whole log tells of, oldest first. Never raises, whatever the text."""
    reader = PhaseReader()
    for line in lines_of(log):
        reader.feed(line)
    return reader.starts
