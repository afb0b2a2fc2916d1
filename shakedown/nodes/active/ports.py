"""Whether ports that nobody opened for this purpose are open between the nodes, both ways, over the fabric.

Ray's agents and workers, c10d, Gloo and NCCL listen on whatever port is free; a firewall that knows of Ray's port only
lets a node join and the launch hang.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from functools import cache

from shakedown.inventory.model import Deployment, Node
from shakedown.nodes.active.action import act, script
from shakedown.nodes.answer import Command
from shakedown.nodes.evidence import Evidence

EPHEMERAL = range(32768, 61000)
"""Linux's own range for ports that nobody asked for by number; see ip(7)."""

COUNT = 4
WAIT_S = 8
LIMIT_S = 20


@dataclass(frozen=True, slots=True)
class Way:
    """One direction between two nodes.

    Attributes:
        source, target: names of the nodes.
        reached: ports that were reached.
        problems: why the others were not, by port.
    """

    source: str
    target: str
    reached: tuple[str, ...]
    problems: dict[str, str]

    def __str__(self) -> str:
        said = "; ".join(sorted(set(self.problems.values())))
        tried = len(self.reached) + len(self.problems)
        return f"{self.source} -> {self.target}: {len(self.reached)} of {tried} ports reached ({said})"


def ways(deployment: Deployment, evidence: Evidence) -> tuple[Way, ...]:
    """Every direction between two nodes; a port that was taken on the target already is left out.

    Raises:
        EvidenceError: see :func:`act`.
        NodeUnreachableError: see :func:`act`.
    """
    said = act(deployment, evidence, {node.name: _command(deployment, node) for node in deployment.node})
    found = []
    for source in deployment.node:
        for target in deployment.peers(source):
            taken = said[target.name]["taken"]
            problems = said[source.name]["reached"].get(str(target.fabric_address), {})
            tried = {port: problem for port, problem in problems.items() if port not in taken}
            reached = tuple(port for port, problem in tried.items() if problem is None)
            failed = {port: str(problem) for port, problem in tried.items() if problem is not None}
            found.append(Way(source.name, target.name, reached, failed))
    return tuple(found)


def _command(deployment: Deployment, node: Node) -> Command:
    peers = [f"{peer.fabric_address}={_ports()}" for peer in deployment.peers(node)]
    arguments = (str(WAIT_S), str(node.fabric_address), _ports(), *peers)
    return script("try_ports", node.python, *arguments, limit_s=LIMIT_S)


@cache
def _ports() -> str:
    """Others in each run, so that no rule of a firewall can have been made for them."""
    return ",".join(str(port) for port in secrets.SystemRandom().sample(EPHEMERAL, COUNT))
