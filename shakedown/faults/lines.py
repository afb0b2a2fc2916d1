"""A line of a log, as the diagnosis takes it: what, where, and when on one clock for all nodes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LogLine:
    """One whole line, without its ending, colours removed.

    Attributes:
        node: name of the node it was read on.
        stream: which kind of log, in the operator's words (``serve log``, ``raylet.out``, ``kernel log``).
        source: the file or command it came from, as it is named on that node.
        at: when it was written, seconds since the epoch on this machine's clock; the clocks of nodes are aligned to it.
        text: the line.
    """

    node: str
    stream: str
    source: str
    at: float
    text: str
