"""A Ray task bound to each node: it runs there, and the Python that Ray's workers have there imports the engine."""

from __future__ import annotations

from dataclasses import dataclass

from shakedown.inventory.model import Deployment
from shakedown.nodes.active.action import act, script
from shakedown.nodes.evidence import Evidence

WAIT_S = 150
"""For all tasks together: a worker's start and the engine's import take 10 s on an idle machine, a minute on a busy
one."""
LIMIT_S = 170


@dataclass(frozen=True, slots=True)
class Task:
    """What became of the task on one node.

    Attributes:
        node: address of the node it was bound to.
        address: where it ran, in its own words; empty if it did not.
        host: name of the machine it ran on.
        python: interpreter of the worker that ran it.
        problem: why it did not run, or why the engine could not be imported; empty if all is well.
    """

    node: str
    address: str
    host: str
    python: str
    problem: str

    def __str__(self) -> str:
        ran = f"ran as {self.address} on {self.host} by {self.python}" if self.address else "did not run"
        return f"bound to {self.node}: {ran}" + (f": {self.problem}" if self.problem else "")


def tasks(deployment: Deployment, evidence: Evidence) -> tuple[Task, ...]:
    """One task for each node that is alive, started from the head.

    Raises:
        EvidenceError: see :func:`act`; no Ray runs on the head.
        NodeUnreachableError: see :func:`act`.
    """
    head = deployment.head
    command = script("run_tasks", head.python, str(WAIT_S), deployment.serve.engine, limit_s=LIMIT_S)
    said = act(deployment, evidence, {head.name: command})[head.name]
    return tuple(
        Task(
            node=str(row["node"]),
            address=str(row.get("address", "")),
            host=str(row.get("host", "")),
            python=str(row.get("python", "")),
            problem=str(row.get("error", "")) or "; ".join(row.get("problems", {}).values()),
        )
        for row in said
    )
