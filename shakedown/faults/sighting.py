"""A line that means something to the diagnosis, and which of several means most."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from shakedown.faults.lines import LogLine
from shakedown.faults.signature import Kind
from shakedown.faults.signatures import Match

_NEAREST_FIRST = (
    "kernel log",
    "container",
    "raylet.out",
    "raylet.err",
    "Ray worker logs",
    "serve log",
    "gcs_server.out",
)
"""Logs in the order in which they are believed: who did it, who was told of it, who noticed from afar."""


@dataclass(frozen=True, slots=True)
class Sighting:
    """One such line.

    Attributes:
        line: the line.
        kind: what it is evidence of; ``unknown``: it names an exception that the catalogue does not know.
        node: the node that it is about; None where the line leaves that open.
        seen: when it came in, on the same clock as `LogLine.at`; later than that where the line was a backlog.
        match: what the catalogue says of it; None for an unknown exception.
    """

    line: LogLine
    kind: Kind | Literal["unknown"]
    node: str | None
    seen: float = field(compare=False)
    match: Match | None = None

    @property
    def fault(self) -> str | None:
        """Id of the fault, None where the catalogue has none."""
        return self.match.entry.id if self.match else None

    def explains(self, at: float, within_s: float) -> bool:
        """Whether a consequence of that moment may come from it; a clock or a log may be off by ``within_s``."""
        reaction = self.match is not None and self.match.signature.reaction
        return self.line.at <= at + (0.0 if reaction else within_s)

    @property
    def believed(self) -> tuple[int, int, bool, float, str, str, str]:
        """Sorts sightings of the same moment: the one that tells most first, and never by the order of arrival."""
        source_code = "    raise " in self.line.text  # of a traceback; the exception itself follows
        rank = self.match.signature.rank if self.match else 0
        stream = self.line.stream
        nearness = _NEAREST_FIRST.index(stream) if stream in _NEAREST_FIRST else len(_NEAREST_FIRST)
        return rank, nearness, source_code, *self.written

    @property
    def written(self) -> tuple[float, str, str, str]:
        """Sorts sightings by the time at which they were written."""
        return self.line.at, self.line.node, self.line.source, self.line.text
