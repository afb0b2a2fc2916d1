"""A small collective over all nodes, each rank started as a worker of the engine would be, with the same environment.

Where Ray runs, that is the raylet's own environment, which its workers inherit. Where it does not run yet, it is what a
command gets there, with the declared addresses and NICs: then a failure is one of the network and not of a setting that
nobody has made yet.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from functools import cache
from typing import Any

from shakedown.inventory.model import Deployment, Node
from shakedown.nodes.active.action import act, script
from shakedown.nodes.active.ports import EPHEMERAL
from shakedown.nodes.answer import Command
from shakedown.nodes.evidence import Evidence

WAIT_S = 30
LIMIT_S = 60
"""All that a collective may take, the import of torch included; NCCL itself would wait for half an hour."""

_LAST = "done"


@dataclass(frozen=True, slots=True)
class Rank:
    """What became of one rank.

    Attributes:
        node: its node.
        number: its rank; the head's is 0.
        step: the last one that it began; ``done`` at the end.
        address: what it takes for its own address.
        init: where the group was to be formed, as rank 0 told; empty if it did not get to know.
        total: its sum of all ranks; None if there is none.
        expected: what that must be.
        took_s: seconds.
        tail: its last words on stderr.
    """

    node: str
    number: int
    step: str
    address: str
    init: str
    total: float | None
    expected: float
    took_s: float
    tail: tuple[str, ...]

    @property
    def has_group(self) -> bool:
        """Whether it found the others and formed a group with them."""
        return self.step in ("add up", _LAST)

    @property
    def has_sum(self) -> bool:
        """Whether the collective ended, with the right result."""
        return self.step == _LAST and self.total == self.expected

    def __str__(self) -> str:
        where = f" at {self.init}" if self.init else ""
        words = "".join(f"\n            {line}" for line in self.tail)
        own = self.address or "no address"
        stopped = f"stopped at `{self.step}`{where} after {self.took_s:g} s"
        return f"rank {self.number} on {self.node} ({own}) {stopped}{words}"


def ranks(deployment: Deployment, evidence: Evidence, backend: str) -> tuple[Rank, ...]:
    """One rank a node, the head first.

    Args:
        deployment: what the whole is meant to be.
        evidence: of the stage at which the ranks are started.
        backend: ``gloo`` or ``nccl``.

    Raises:
        EvidenceError: see :func:`act`.
        NodeUnreachableError: see :func:`act`.
    """
    nodes = (deployment.head, *deployment.workers)
    wanted = {node.name: _command(deployment, node, number, backend) for number, node in enumerate(nodes)}
    said = act(deployment, evidence, wanted)
    return tuple(_rank(node.name, number, len(nodes), said[node.name]) for number, node in enumerate(nodes))


def _command(deployment: Deployment, node: Node, number: int, backend: str) -> Command:
    meeting = (str(deployment.head.fabric_address), str(_port(backend)))
    place = (str(WAIT_S), str(number), str(len(deployment.node)), *meeting, backend)
    declared = (
        f"VLLM_HOST_IP={node.fabric_address}",
        f"GLOO_SOCKET_IFNAME={node.interface}",
        f"NCCL_SOCKET_IFNAME={node.interface}",
    )
    return script("form_group", node.python, *place, *declared, limit_s=LIMIT_S, variant=backend)


@cache
def _port(backend: str) -> int:  # noqa: ARG001 - one for each backend
    return secrets.choice(EPHEMERAL)


def _rank(node: str, number: int, count: int, said: dict[str, Any]) -> Rank:
    return Rank(
        node=node,
        number=number,
        step=str(said.get("step", "import torch")),
        address=str(said.get("address", "")),
        init=str(said.get("init", "")),
        total=said.get("total"),
        expected=float(sum(range(count))),
        took_s=float(said["took_s"]),
        tail=tuple(str(line) for line in said["tail"]),
    )
