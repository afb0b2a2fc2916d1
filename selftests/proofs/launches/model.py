"""A real launch of the embedded deployment: what is done to it, what must be told of it, on which node, how soon."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from shakedown.embedded.node import RunningNode
from shakedown.engines.vllm.phases import PhaseName
from shakedown.inventory.model import Deployment
from shakedown.launch.status import State, Status
from shakedown.outcomes import Stage

SOON_S = 1.0
"""From the first sign of a crash to the verdict, at most."""


def told(fault: str | None, node: str | None) -> str:
    """A fault and its node in words."""
    return f"{fault} on {node}"


@dataclass(frozen=True, slots=True)
class Moment:
    """When something is done.

    Attributes:
        phase: that the launch has reached, or has left behind.
        done: shards that it has loaded by then.
    """

    phase: PhaseName
    done: int = 0

    def reached(self, status: Status) -> bool:
        """Whether a status is of that moment or of a later one."""
        now = next((phase for phase in PhaseName if phase.value == status.phase), None)
        if now is None or now.order < self.phase.order:
            return False
        return now is not self.phase or not self.done or (status.bar is not None and status.bar.done >= self.done)


@dataclass(slots=True)
class Scene:
    """A launch that is under way, as those who act on it see it.

    Attributes:
        head, worker: its nodes.
        file: its deployment file.
        deployment: what that says, with a state folder that goes when the launch is over.
        ends: what is called when the launch is over; an `AssertionError` of it is a proof that does not hold.
    """

    head: RunningNode
    worker: RunningNode
    file: Path
    deployment: Deployment
    ends: list[Callable[[], None]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Act:
    """Something that is done to a launch.

    Attributes:
        text: what, for people.
        at: when.
        do: how.
        is_sign: it is the first sign of the failure itself, as the killing of a process is.
    """

    text: str
    at: Moment
    do: Callable[[Scene], None]
    is_sign: bool = False


@dataclass(frozen=True, slots=True)
class Launch:
    """A launch with what must become of it.

    Attributes:
        name: unique.
        shape: what is built in, as ``up --fault`` names it; None: nothing.
        slow_load_s: by how much each of the 39 shards is slowed down, s.
        acts: what is done on the way.
        before: what is done before the server is started, and in words.
        stage: which step of the launch is observed; the one before it is done by the deployment's maker.
        outcome: what must become of it.
        fault: id that must be told; None where the catalogue has none for it, or nothing is wrong.
        node: on which node.
        or_told: other words that are as true, as ``ID on NODE``.
        within_s: from the first sign to the verdict, at most.
        says: regular expression that must be found in what is told.
    """

    name: str
    outcome: State
    shape: str | None = None
    slow_load_s: float = 0.0
    acts: Sequence[Act] = ()
    before: Callable[[Scene], None] | None = None
    before_text: str = ""
    stage: Stage = Stage.SERVING
    fault: str | None = None
    node: str | None = None
    or_told: Sequence[str] = ()
    within_s: float = SOON_S
    says: str = ""

    @property
    def wanted(self) -> tuple[str, ...]:
        """What must be told, as ``ID on NODE``; one of these."""
        return (told(self.fault, self.node), *self.or_told)

    @property
    def is_healthy(self) -> bool:
        """Whether it must become ready, and must not be condemned on the way."""
        return self.outcome is State.READY
