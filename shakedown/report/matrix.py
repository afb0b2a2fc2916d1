"""What differs between the nodes, by whatever check it was found: one table, and nothing in it that is equal."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from shakedown.report.results import RunResults

WIDEST = 32
"""Letters of a cell at a terminal: two nodes and a subject fit into a line."""


@dataclass(frozen=True, slots=True)
class Row:
    """One subject.

    Attributes:
        subject: what differs.
        values: of each node, in the order of `Matrix.nodes`; empty where a node was not compared.
        ids: of the checks that found it.
    """

    subject: str
    values: tuple[str, ...]
    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Matrix:
    """The table: its columns and rows; without rows nothing differs that was compared."""

    nodes: tuple[str, ...]
    rows: tuple[Row, ...]


def matrix(results: RunResults) -> Matrix:
    """The table of a run, from its findings, waived ones too; a subject that several checks tell of stands once."""
    found: dict[str, dict[str, str]] = {}
    ids: dict[str, dict[str, None]] = {}
    for finding in (test.finding for test in results.tests if test.finding is not None):
        for subject, values in finding.differs.items():
            found.setdefault(subject, {}).update(values)
            ids.setdefault(subject, {})[finding.id] = None
    nodes = tuple(dict.fromkeys(node for values in found.values() for node in values))
    rows = tuple(
        Row(subject, tuple(values.get(node, "") for node in nodes), tuple(ids[subject]))
        for subject, values in found.items()
    )
    return Matrix(nodes, rows)


def lines(table: Matrix) -> Iterator[str]:
    """The table in columns, for a terminal; nothing without rows."""
    if not table.rows:
        return
    cells = [("", *table.nodes, "told by")]
    cells += [(row.subject, *row.values, ", ".join(row.ids)) for row in table.rows]
    short = [tuple(_short(text) for text in row) for row in cells]
    widths = [max(len(row[column]) for row in short) for column in range(len(short[0]))]
    for row in short:
        yield "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()


def _short(text: str) -> str:
    return text if len(text) <= WIDEST else f"{text[: WIDEST - 3]}..."
