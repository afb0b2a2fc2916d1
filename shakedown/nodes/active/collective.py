"""A collective over all nodes, each rank started as a worker of the engine would be, with the same environment.

Where Ray runs, that is the environment of the raylet, which its workers inherit, with what the engine hands over from
the head. Where it does not run yet, it is what a command gets there, with the declared addresses and NICs: then a
failure is one of the network and not of a setting that nobody has made yet.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from shakedown.engines.nccl import Transport, parse_transport
from shakedown.inventory.model import Deployment, Node
from shakedown.nodes.active.action import act, script
from shakedown.nodes.active.ports import EPHEMERAL
from shakedown.nodes.answer import Command
from shakedown.nodes.evidence import Evidence

WAIT_S = 30
LIMIT_S = 60
"""All that a collective may take, the import of torch included; NCCL itself would wait for half an hour."""

SIZES = (8 << 10, 64 << 20, 1 << 30)
"""Bytes that are added up where that is timed: what a decoding step sends, what a prefill sends, what a link can do.

A size is left out that would take an eighth of the memory that is free on any node, or seconds for a single sum.
"""

_LAST = "done"
_SUM = "add up"


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
        transport: by what NCCL sends to the peers.
        timed: seconds that a sum takes all ranks, by bytes.
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
    transport: Transport
    timed: Mapping[int, float]
    took_s: float
    tail: tuple[str, ...]

    @property
    def has_group(self) -> bool:
        """Whether it found the others and formed a group with them."""
        return self.step == _LAST or self.step.startswith(_SUM)

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


def bus_bandwidth(size: int, seconds: float, ranks: int) -> float:
    """Bytes/s that each link must have carried for a sum of ``size`` bytes over all ranks.

    Source: https://github.com/NVIDIA/nccl-tests/blob/master/doc/PERFORMANCE.md (AllReduce).
    """
    return size / seconds * 2 * (ranks - 1) / ranks


def ranks(
    deployment: Deployment,
    evidence: Evidence,
    backend: str,
    given: Mapping[str, Mapping[str, str]],
    sizes: tuple[int, ...] = (),
) -> tuple[Rank, ...]:
    """One rank a node, the head first.

    Args:
        deployment: what the whole is meant to be.
        evidence: of the stage at which the ranks are started.
        backend: ``gloo`` or ``nccl``.
        given: variables that ranks have from elsewhere than their node, by node; see `shakedown.nodes.ranks.given`.
        sizes: bytes that are to be timed.

    Raises:
        EvidenceError: see :func:`act`.
        NodeUnreachableError: see :func:`act`.
    """
    nodes = (deployment.head, *deployment.workers)
    head = deployment.head.fabric_address
    wanted = {}
    for number, node in enumerate(nodes):
        meeting = (str(number), str(len(nodes)), str(head), str(_port(backend, sizes)))
        wanted[node.name] = _command(node, meeting, backend, sizes, given.get(node.name, {}))
    said = act(deployment, evidence, wanted)
    return tuple(_rank(node.name, number, len(nodes), said[node.name]) for number, node in enumerate(nodes))


def _command(
    node: Node, meeting: tuple[str, ...], backend: str, sizes: tuple[int, ...], given: Mapping[str, str]
) -> Command:
    listed = ",".join(map(str, sizes)) or "-"
    variables = (f"{name}={value}" for name, value in sorted(given.items()))
    variant = f"{backend} timed" if sizes else backend
    arguments = (str(WAIT_S), *meeting, backend, listed, *variables)
    return script("form_group", node.python, *arguments, limit_s=LIMIT_S, variant=variant)


@cache
def _port(backend: str, sizes: tuple[int, ...]) -> int:  # noqa: ARG001 - one for each group
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
        transport=parse_transport(map(str, said["nccl"])),
        timed={int(size): float(seconds) for size, seconds in said.get("timed", {}).items()},
        took_s=float(said["took_s"]),
        tail=tuple(str(line) for line in said["tail"]),
    )
