"""What the nodes tell while a launch goes on; the streams deliver these, the watch consumes them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from shakedown.faults.lines import LogLine


class Stream(StrEnum):
    """Logs that are followed; the value is their name for people."""

    SERVE = "serve log"
    RAYLET_OUT = "raylet.out"
    RAYLET_ERR = "raylet.err"
    GCS = "gcs_server.out"
    WORKER = "Ray worker logs"
    KERNEL = "kernel log"
    CONTAINER = "container"


class Counter(StrEnum):
    """Numbers that are sampled; every one but ``AVAILABLE`` only grows, and growth is a sign of life."""

    AVAILABLE = "MemAvailable, bytes"
    READ = "bytes read by the engine's processes"
    CPU = "processor time of the engine's processes, s"
    FABRIC = "bytes over the fabric NIC"
    RDMA = "bytes over the fabric's HCAs"


@dataclass(frozen=True, slots=True)
class Logged:
    """A line was written.

    Attributes:
        line: the line.
        backlog: it stood there before the follower did, so that its time is that of its stamp.
    """

    line: LogLine
    backlog: bool = False


@dataclass(frozen=True, slots=True)
class Sampled:
    """Counters were read.

    Attributes:
        node: on which node.
        at: when, seconds since the epoch on this machine's clock.
        values: those that could be read.
    """

    node: str
    at: float
    values: Mapping[Counter, float]


@dataclass(frozen=True, slots=True)
class Processes:
    """Which of the processes that matter live on a node; sent whenever it changes.

    Attributes:
        node: on which node.
        at: when it was seen.
        alive: process ids by kind: ``server``, ``engine``, ``worker``, ``raylet``, ``gcs``.
        stopped: process ids in state T (SIGSTOP, or a debugger).
        port_owner: who listens on the API port (``python3 (1234)``), "" for nobody, None where it is not the head.
    """

    node: str
    at: float
    alive: Mapping[str, tuple[int, ...]]
    stopped: tuple[int, ...] = ()
    port_owner: str | None = None


@dataclass(frozen=True, slots=True)
class Opened:
    """A log has been found and is followed from here on, or is missing (still, or again).

    Attributes:
        node: on which node.
        stream: which log.
        source: file or command.
        there: whether it can be read now.
        why: where it cannot: the error in words.
    """

    node: str
    stream: Stream
    source: str
    there: bool
    why: str = ""


@dataclass(frozen=True, slots=True)
class Contact:
    """A node can be followed, or no longer.

    Attributes:
        node: which.
        at: when.
        reached: whether it answers.
        why: where it does not: what ssh (or docker) said.
        clock_offset_s: node's clock minus this machine's, s; None where it is not reached.
    """

    node: str
    at: float
    reached: bool
    why: str = ""
    clock_offset_s: float | None = None


@dataclass(frozen=True, slots=True)
class Answered:
    """The API was asked from this machine.

    Attributes:
        at: when the answer (or its lack) was there.
        health: status of ``GET /health``; None where nothing answered.
        models: names of ``GET /v1/models``; empty where there is no such answer.
        why: where nothing answered: refused, timed out, ...
    """

    at: float
    health: int | None
    models: tuple[str, ...] = ()
    why: str = ""


Event = Logged | Sampled | Processes | Opened | Contact | Answered
