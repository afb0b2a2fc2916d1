"""Where a launch is, at one moment: what the live view shows and what `--json-status` writes for other tools."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from shakedown.files import write_atomically

FORMAT = 1


class State(StrEnum):
    """What has become of a launch.

    ``waiting``: nothing of it has been seen yet. ``running``: it goes on. ``ready``: a token was generated. ``failed``:
    it will never be ready. ``stalled``: it stands still; it may go on. ``ended``: the server was stopped on purpose.
    """

    WAITING = "waiting"
    RUNNING = "running"
    READY = "ready"
    FAILED = "failed"
    STALLED = "stalled"
    ENDED = "ended"


@dataclass(frozen=True, slots=True)
class Bar:
    """Progress of a phase: so many of all, in a unit (``shards``, ``graphs``)."""

    done: int
    total: int
    unit: str


@dataclass(frozen=True, slots=True)
class Span:
    """A phase of one node, by its name for people; times in seconds since the epoch, ``ended`` None while it lasts."""

    phase: str
    began: float
    ended: float | None


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a launch failed or stands still.

    Attributes:
        fault: id in the catalogue; None where no known fault explains it.
        title: what is wrong, in a few words.
        node: where; None where that is not known.
        at: of the first sign, seconds since the epoch.
        stream: which log or counter shows it.
        line: what it said.
        why: the cause.
        remedy: what to do.
        check: the check that finds it before a launch; "" where none does.
        evidence: further lines, each with its node.
    """

    fault: str | None
    title: str
    node: str | None
    at: float
    stream: str = ""
    line: str = ""
    why: str = ""
    remedy: str = ""
    check: str = ""
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NodeStatus:
    """One node.

    Attributes:
        name: as the deployment file calls it.
        role: ``head`` or ``worker``.
        phase: where its rank is, for people; "" where nothing is known of it.
        since: when that phase began, seconds since the epoch.
        bar: progress in it.
        activity: what its counters show now, in words: ``reads 1.2 GB/s``.
        available_bytes: MemAvailable.
        lowest_bytes: the lowest that was in this start.
        reached: whether it answers.
        why: where it does not.
        missing: logs that are not there (yet), with why.
        spans: its phases so far.
    """

    name: str
    role: str
    phase: str = ""
    since: float | None = None
    bar: Bar | None = None
    activity: str = ""
    available_bytes: float | None = None
    lowest_bytes: float | None = None
    reached: bool = False
    why: str = ""
    missing: tuple[str, ...] = ()
    spans: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True)
class Status:
    """A launch.

    Attributes:
        format: version of this form.
        deployment: its name.
        state: see `State`.
        settled: it stays so; a failure that is not settled may still get another explanation, within seconds.
        phase: the furthest that any node has shown, for people.
        began: of a launch of ours its command, else the first line of its log; seconds since the epoch. None before
            anything was seen.
        since: of the phase.
        bar: progress in the phase.
        phase_left_s: what is left of the phase, s; None where that is not known.
        left_s: until it is ready, s; None where that is not known.
        nodes: every node, head first.
        explanation: why it failed or stands still.
        starts: how many starts of the server were seen, one for each time that it was begun.
        first_request_s: time of the first request, s.
        notes: what else is to be known: earlier failures of the same log, what could not be seen.
        updated_at: seconds since the epoch.
    """

    deployment: str
    state: State
    updated_at: float
    settled: bool = False
    phase: str = ""
    began: float | None = None
    since: float | None = None
    bar: Bar | None = None
    phase_left_s: float | None = None
    left_s: float | None = None
    nodes: tuple[NodeStatus, ...] = ()
    explanation: Explanation | None = None
    starts: int = 0
    first_request_s: float | None = None
    notes: tuple[str, ...] = field(default=())
    format: int = FORMAT

    @property
    def elapsed_s(self) -> float | None:
        """Since the start began, s."""
        return None if self.began is None else self.updated_at - self.began


_FORM = TypeAdapter(Status)


def schema() -> dict[str, Any]:
    """JSON schema of the file."""
    return {**_FORM.json_schema(mode="serialization"), "title": "Status of a launch"}


def as_json(status: Status) -> str:
    """The status as JSON."""
    return _FORM.dump_json(status, indent=2).decode() + "\n"


def from_json(text: str) -> Status:
    """The status that such a file holds.

    Raises:
        ValidationError: it is none.
    """
    return _FORM.validate_json(text)


def write(status: Status, file: Path) -> None:
    """Rewrite the file, so that a reader at any moment finds a whole status.

    Raises:
        OSError: its folder cannot be written.
    """
    write_atomically(file, as_json(status), durable=False)
