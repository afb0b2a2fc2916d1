"""Evidence of two nodes that are both this machine, and a count of the connections that it took."""

from __future__ import annotations

import pytest

from shakedown.nodes.evidence import Evidence
from shakedown.nodes.fetch import Reach
from shakedown.nodes.transport import Local
from shakedown.outcomes import Stage


class Counting(Local):
    """This machine, counting how often it was connected to."""

    def __init__(self) -> None:
        super().__init__()
        self.connections = 0

    def argv(self, script: str) -> list[str]:
        self.connections += 1
        return super().argv(script)


class Broken(Local):
    """A transport whose program fails in some way."""

    def __init__(self, script: str) -> None:
        super().__init__()
        self._script = script

    def argv(self, script: str) -> list[str]:
        return ["sh", "-c", self._script]

    def __str__(self) -> str:
        return "a broken line"


@pytest.fixture
def machines() -> dict[str, Counting]:
    """Two nodes by name."""
    return {"a": Counting(), "b": Counting()}


@pytest.fixture
def evidence(machines: dict[str, Counting]) -> Evidence:
    """Nothing asked yet."""
    return Evidence("pair", Stage.HOSTS, {name: Reach(name, machine) for name, machine in machines.items()})
