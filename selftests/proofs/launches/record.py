"""A launch as `docs/proofs.json` keeps it: what was done, what was told of it, on which node, how soon."""

from __future__ import annotations

from datetime import UTC, datetime

from pydantic import BaseModel, ConfigDict

from selftests.proofs.launches.model import Launch
from selftests.proofs.launches.observe import Seen
from shakedown.embedded.faults import FAULTS


class LaunchProof(BaseModel):
    """One observed launch.

    Attributes:
        done: what was done to it, for people.
        outcome: what must become of it.
        fault, node: id that was told, or had to be, and where; None where there is none.
        states: what it went through.
        told: what was told of a failure or a standstill on the way, as ``ID on NODE``.
        phase: in which it was when that was told.
        lag_s: from the first sign until it was told, s; None where nothing was to be told.
        within_s: how long that may take, s.
        took_s: from the command to the verdict, s.
        wrong: why it does not hold.
        at: day of the observation, UTC.
        sources: digest of the code that was proved.
    """

    model_config = ConfigDict(extra="forbid")

    done: str
    outcome: str
    fault: str | None
    node: str | None
    states: list[str]
    told: list[str]
    phase: str
    lag_s: float | None
    within_s: float
    took_s: float
    wrong: list[str]
    at: str
    sources: str

    @property
    def holds(self) -> bool:
        """Whether it was told what is so, in time, and nothing else."""
        return not self.wrong


def proof_of(launch: Launch, seen: Seen, sources: str) -> LaunchProof:
    """An observation as it is kept."""
    return LaunchProof(
        done=done(launch),
        outcome=launch.outcome.value,
        fault=seen.right.fault if seen.right else launch.fault,
        node=seen.right.node if seen.right else launch.node,
        states=seen.states,
        told=seen.told,
        phase=seen.phase,
        lag_s=seen.lag_s,
        within_s=launch.within_s,
        took_s=round(seen.took_s, 1),
        wrong=seen.wrong,
        at=datetime.now(UTC).date().isoformat(),
        sources=sources,
    )


def done(launch: Launch) -> str:
    """What is done to a launch, for people."""
    shape = next((fault.text for fault in FAULTS if fault.name == launch.shape), "")
    slow = f"each shard takes {launch.slow_load_s:g} s longer" if launch.slow_load_s else ""
    acts = (f"{act.text}, {_when(act.at.phase.value, act.at.done)}" for act in launch.acts)
    parts = [part for part in (shape, launch.before_text, slow, *acts) if part]
    return "; ".join(parts) or "nothing"


def _when(phase: str, shards: int) -> str:
    return f"at shard {shards}" if shards else f"in the phase '{phase}'"
