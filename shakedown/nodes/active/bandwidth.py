"""How much the fabric carries, measured: some TCP streams between the head and a worker, one way and then the other."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from functools import cache

from shakedown.errors import EvidenceError
from shakedown.inventory.model import Deployment, Node
from shakedown.nodes.active.action import act, script
from shakedown.nodes.active.ports import EPHEMERAL
from shakedown.nodes.answer import Command
from shakedown.nodes.evidence import Evidence

SECONDS = 5
STREAMS = 8
LIMIT_S = 60

LEAST_SHARE = 0.1
"""Of the link's own speed: less than any machine's TCP, more than the 13 of 200 Gb/s of a link in its bad state.

Source: https://github.com/NVIDIA/dgx-spark-playbooks/issues/108
"""


@dataclass(frozen=True, slots=True)
class Flow:
    """What arrived from one node at another.

    Attributes:
        source, target: names of the nodes.
        mbps: Mb/s, as link speeds are given.
    """

    source: str
    target: str
    mbps: float

    def __str__(self) -> str:
        return f"{self.source} -> {self.target}: {self.mbps:.0f} Mb/s"


def flows(deployment: Deployment, evidence: Evidence) -> tuple[Flow, ...]:
    """Both directions between the head and each worker, one after another.

    Raises:
        EvidenceError: see :func:`act`; nothing arrived.
        NodeUnreachableError: see :func:`act`.
    """
    head, found = deployment.head, []
    for worker in deployment.workers:
        said = act(
            deployment,
            evidence,
            {head.name: _command(head, worker, worker, "first"), worker.name: _command(worker, head, worker, "second")},
        )
        for source, target in ((head, worker), (worker, head)):
            received = said[target.name]
            if received["seconds"] <= 0:
                raise EvidenceError(f"nothing arrived at {target.name} from {source.name}")
            found.append(Flow(source.name, target.name, received["bytes"] * 8 / received["seconds"] / 1e6))
    return tuple(found)


def _command(node: Node, peer: Node, worker: Node, turn: str) -> Command:
    addresses = (str(node.fabric_address), str(peer.fabric_address))
    arguments = (str(SECONDS), str(STREAMS), *addresses, str(_port()), turn)
    return script("stream_bytes", node.python, *arguments, limit_s=LIMIT_S, variant=f"with {worker.name}")


@cache
def _port() -> int:
    return secrets.choice(EPHEMERAL)
