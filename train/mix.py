"""How often each family is drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

DEFAULT = 1.0
BASE: Mapping[str, float] = {
    "arithmetic": 6.0,  # sums without thinking are learned last
    "code-trace": 4.0,
    "reverse": 4.0,
    "ordering": 3.0,
    "tool-call": 2.5,
    "parallel-calls": 2.0,
    "needle": 1.5,
    "unknown": 2.0,  # everything else in the world
    "counting": 0.5,  # long answers: few documents are many tokens
}
"""Weights of families that need more or fewer documents than others; any other family has `DEFAULT`."""

BOOST = 4.0
"""A family that gets nothing right is drawn this much more often in addition."""


def base(families: Sequence[str]) -> list[float]:
    """Weights before anything is known about accuracy."""
    return [BASE.get(family, DEFAULT) for family in families]


def adapted(families: Sequence[str], accuracy: Mapping[str, float]) -> list[float]:
    """Weights after a validation: from 1 to 1 + `BOOST` times the base, the more the lower the accuracy.

    Args:
        families: names, in the order of the weights.
        accuracy: of each family the lower one of its two modes, 0 to 1.
    """
    return [
        weight * (1 + BOOST * (1 - accuracy[family])) for family, weight in zip(families, base(families), strict=True)
    ]
