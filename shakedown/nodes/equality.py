"""What is not the same on all nodes: subject, node, value; one shape for every claim of equality."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from shakedown.nodes.views.node import NodeViews

Differences = dict[str, dict[str, str]]
"""Subject -> node -> value; only subjects whose values differ."""

NONE = "none"
"""The value of a node that has none."""


def differences(pair: Mapping[str, NodeViews], read: Callable[[NodeViews], Mapping[str, object]]) -> Differences:
    """The subjects that ``read`` finds with more than one value, in the order in which they were met."""
    return uneven({node: read(view) for node, view in pair.items()})


def uneven(values: Mapping[str, Mapping[str, object]]) -> Differences:
    """The same of values that have been read: node -> subject -> value."""
    subjects = dict.fromkeys(subject for found in values.values() for subject in found)
    rows = {subject: {node: _text(found.get(subject)) for node, found in values.items()} for subject in subjects}
    return {subject: row for subject, row in rows.items() if len(set(row.values())) > 1}


def in_words(differs: Differences) -> str:
    """``SUBJECT: NODE VALUE, NODE VALUE; SUBJECT: ...``"""
    rows = (
        f"{subject}: " + ", ".join(f"{node} {value}" for node, value in row.items()) for subject, row in differs.items()
    )
    return "; ".join(rows)


def _text(value: object) -> str:
    return NONE if value is None or value == "" else str(value)
