"""The time line of a start, as results hold it and as the page draws it: every phase of every node, side by side."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, NonNegativeFloat

Storage = Literal["cold", "warm", "mixed", "unknown"]
Compilation = Literal["cold", "warm", "none", "unknown"]

LONGEST, SHORTEST_S = 4, 1.0
"""In one line: so many phases, and none that is shorter."""

NARROWEST = 0.004
"""Share of the whole below which a phase is not drawn: it would be thinner than its own border."""

COLOURS = ("#3b7dd8", "#8456c9", "#c2509a", "#d4682e", "#a8871c", "#4d9a3f", "#1f9a93", "#6b7683")
"""One after the other, so that neighbours differ; legible on light and dark ground."""


class Part(BaseModel):
    """Strict on reading, as everything in the results is."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class PhaseRecord(Part):
    """A phase of one node: its name for people, begin and end in seconds since the start began."""

    name: str
    began_s: float
    ended_s: float

    @property
    def took_s(self) -> float:
        """Duration, s."""
        return self.ended_s - self.began_s


class NodeTimeline(Part):
    """One node.

    Attributes:
        node: its name.
        phases: in their order.
        storage: where the weights came from: ``cold`` if the engine's processes read at least 80 % of what their ranks
            need from storage, ``warm`` if at most 10 % (the rest was in the page cache), ``mixed`` between the two,
            ``unknown`` where either number is, and where they need less than 1 GiB: libraries are read, too.
        read_bytes: what these processes read from storage until the weights were in memory.
        needed_bytes: the checkpoint's size times the share of all ranks that run here; where the log does not tell that
            size, the memory that the ranks took for the model.
        lowest_available_bytes: the lowest MemAvailable of the start.
    """

    node: str
    phases: tuple[PhaseRecord, ...]
    storage: Storage = "unknown"
    read_bytes: NonNegativeFloat | None = None
    needed_bytes: NonNegativeFloat | None = None
    lowest_available_bytes: NonNegativeFloat | None = None


class TimelineRecord(Part):
    """A start that became ready.

    Attributes:
        began: its first line, UTC.
        stamp: of that line, as the log has it: tells this start from the others of the same log.
        ready_s: until the log said that the API answers, s; the proof comes after it.
        first_request_s: the first request, for one token, by itself, s; None where it was not asked.
        compilation: ``warm`` if every graph came from the compile cache, ``cold`` if one was compiled, ``none`` without
            compilation, ``unknown`` where the log does not say.
        engine: its version; "" where the log does not say.
        nodes: head first.
    """

    began: AwareDatetime
    stamp: str = ""
    ready_s: NonNegativeFloat
    first_request_s: NonNegativeFloat | None = None
    compilation: Compilation = "unknown"
    engine: str = ""
    nodes: tuple[NodeTimeline, ...]

    @property
    def storage(self) -> Storage:
        """Where the weights came from on all nodes together: ``mixed`` where they differ in it."""
        kinds = {node.storage for node in self.nodes}
        if "unknown" in kinds or not kinds:
            return "unknown"
        return next(iter(kinds)) if len(kinds) == 1 else "mixed"

    @property
    def names(self) -> tuple[str, ...]:
        """Every phase that some node went through, in the order in which they began."""
        began: dict[str, float] = {}
        for phase in (phase for node in self.nodes for phase in node.phases):
            began[phase.name] = min(phase.began_s, began.get(phase.name, phase.began_s))
        return tuple(sorted(began, key=began.__getitem__))


@dataclass(frozen=True, slots=True)
class Piece:
    """A phase as it is drawn: where and how wide, as percent of the whole, and in which colour."""

    name: str
    took_s: float
    left: float
    width: float
    colour: str


@dataclass(frozen=True, slots=True)
class Row:
    """One node as it is drawn."""

    timeline: NodeTimeline
    pieces: tuple[Piece, ...]


def in_a_line(record: TimelineRecord) -> str:
    """The start in one line for people: its longest phases, when it was ready, and from where the weights came."""
    took: dict[str, float] = {}
    for phase in (phase for node in record.nodes for phase in node.phases):
        took[phase.name] = max(phase.took_s, took.get(phase.name, 0.0))
    longest = sorted((name for name in took if took[name] >= SHORTEST_S), key=took.__getitem__, reverse=True)[:LONGEST]
    parts = [f"{name} {took[name]:.0f} s" for name in record.names if name in longest]
    parts.append(f"ready after {record.ready_s:.0f} s")
    if record.first_request_s is not None:
        parts.append(f"first request {record.first_request_s:.1f} s")
    return f"{', '.join(parts)}; weights {_weights(record)}, compilation {record.compilation}"


def _weights(record: TimelineRecord) -> str:
    if len({node.storage for node in record.nodes}) == 1:
        return record.storage
    return ", ".join(f"{node.storage} on {node.node}" for node in record.nodes)


def rows(record: TimelineRecord) -> tuple[Row, ...]:
    """The chart: one row a node, all to the same scale."""
    whole = max([record.ready_s, *(phase.ended_s for node in record.nodes for phase in node.phases)], default=0.0)
    return tuple(Row(node, tuple(_pieces(record, node, whole))) for node in record.nodes)


def legend(record: TimelineRecord) -> list[tuple[str, str]]:
    """Colour and name of every phase that is drawn."""
    drawn = {piece.name: piece.colour for row in rows(record) for piece in row.pieces}
    return [(drawn[name], name) for name in record.names if name in drawn]


def _pieces(record: TimelineRecord, node: NodeTimeline, whole: float) -> Iterator[Piece]:
    colours = {name: COLOURS[place % len(COLOURS)] for place, name in enumerate(record.names)}
    for phase in node.phases:
        if whole > 0 and phase.took_s / whole >= NARROWEST:
            left, width = 100 * phase.began_s / whole, 100 * phase.took_s / whole
            yield Piece(phase.name, phase.took_s, round(left, 2), round(width, 2), colours[phase.name])
