"""The clock, and the versions of what must be equal on all nodes."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from functools import cached_property

from shakedown.errors import EvidenceError
from shakedown.inventory.model import Deployment, Node
from shakedown.nodes.answer import Command, python_script
from shakedown.nodes.backend import EvidenceResult
from shakedown.nodes.views.base import View

_CLOCK = Command("date +%s.%N")


@dataclass(frozen=True, slots=True)
class Clock:
    """How far a node's clock is ahead of the clock of the machine that asks.

    The node read its clock somewhere between the leaving of the question and the coming of the answer; so the truth
    lies within ``ahead_s`` plus or minus ``uncertainty_s``, and nowhere else.
    """

    ahead_s: float
    uncertainty_s: float


class PlatformView(View):
    """Clock and versions of one node."""

    @classmethod
    def commands(cls, deployment: Deployment, node: Node) -> tuple[Command, ...]:
        """The clock stands first: what is asked before it would widen its uncertainty."""
        return (_CLOCK, _versions(deployment, node))

    @cached_property
    def clock(self) -> Clock:
        """This node's clock against that of the machine that asks."""
        before = time.time()
        result = self._result(_CLOCK)
        after = time.time()
        if isinstance(result, EvidenceResult):
            before, after = result.asked, result.answered
        return parse_clock(result.stdout, before, after)

    @cached_property
    def versions(self) -> dict[str, str | None]:
        """Of ``python``, ``ray``, the engine and ``torch``; None for what is not installed."""
        found = self._json(_versions(self._deployment, self._node))
        return {str(name): version for name, version in found.items()}


def _versions(deployment: Deployment, node: Node) -> Command:
    engine = deployment.serve.engine
    return python_script("versions", node.python, "ray", f"{engine},{engine}-cpu", "torch")


def parse_clock(text: str, asked: float, answered: float) -> Clock:
    """``date +%s.%N`` and when it was asked and answered (seconds since the epoch) -> clock.

    Raises:
        EvidenceError: it is no time.
    """
    if not re.fullmatch(r"\d+\.\d+", text.strip()):
        raise EvidenceError(f"not the output of `date +%s.%N`: {text[:40]!r}")
    middle = (asked + answered) / 2
    return Clock(ahead_s=float(text) - middle, uncertainty_s=(answered - asked) / 2)
