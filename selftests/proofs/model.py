"""A fault with the complete set of checks that must fail when it is there, and a clean run in which none may."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from shakedown.nodes.evidence import Evidence

Mechanism = Literal["bundle", "simulator", "embedded"]

Pair = Literal["embedded", "gb10"]
"""Whose recorded answers a bundle holds: those of plain embedded nodes, or of nodes dressed as GB10 machines."""


@dataclass(frozen=True)
class Fault:
    """One proof: with this fault exactly these checks fail, and without it none.

    Attributes:
        name: unique; of the simulator's faults and of ``up --fault`` it is their name.
        mechanism: a recorded answer is changed, the simulator misbehaves, or the real embedded deployment is broken.
        check: id of the check the fault is about.
        companions: further ids that must fail with it, each with the reason; at most three.
        stage: stage at which the suite is run.
        suite: marker of the suite that is run.
        inject: for ``bundle``: changes the healthy evidence in place.
        options: further pytest options of the run.
        baseline: perf: record a baseline from a clean run first.
        pair: for ``bundle``: whose healthy evidence is changed.
        declared: for ``bundle``: keys of the deployment file, dotted, that are declared otherwise; None leaves one out.
    """

    name: str
    mechanism: Mechanism
    check: str
    companions: Mapping[str, str] = field(default_factory=dict)
    stage: str = "serving"
    suite: str = "infra"
    inject: Callable[[Evidence], None] | None = None
    options: tuple[str, ...] = ()
    baseline: bool = False
    pair: Pair = "embedded"
    declared: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if len(self.companions) > 3:
            raise ValueError(f"{self.name}: {len(self.companions)} companions; a fault is about one check")

    @property
    def expected(self) -> frozenset[str]:
        """Ids of all checks that must fail, and no other may."""
        return frozenset({self.check, *self.companions})


@dataclass(frozen=True)
class Clean:
    """A healthy run: every check of the suite that applies passes, none fails.

    Attributes:
        name: unique, begins with ``clean-``.
        options: pytest options that choose what is healthy.
        baseline: perf: record a baseline first, so that the run is held against one.
    """

    name: str
    mechanism: Mechanism
    suite: str
    stage: str
    options: tuple[str, ...]
    baseline: bool = False

    check = None
    companions: ClassVar[Mapping[str, str]] = {}
    expected: ClassVar[frozenset[str]] = frozenset()
