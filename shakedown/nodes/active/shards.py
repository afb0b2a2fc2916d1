"""All bytes of the model read on every node: whether they are the same, and how fast the disks give them."""

from __future__ import annotations

from dataclasses import dataclass

from shakedown.inventory.model import Deployment
from shakedown.nodes.active.action import act, script
from shakedown.nodes.evidence import Evidence

READERS = 4
"""At the same time: enough for an NVMe disk to give what it can, and for as many cores to hash."""

LIMIT_S = 1800
"""Half an hour is 60 MB/s for a model of 119 GB: who reads more slowly has found the fault."""


@dataclass(frozen=True, slots=True)
class Copy:
    """The model as one node has it.

    Attributes:
        node: its name.
        digests: SHA-256 of each shard, by name.
        size: bytes of all shards.
        read_s: what reading them took, seconds; no launch loads them faster from there.
    """

    node: str
    digests: dict[str, str]
    size: int
    read_s: float

    @property
    def bytes_per_s(self) -> float:
        """How fast they were read."""
        return self.size / self.read_s


def copies(deployment: Deployment, evidence: Evidence) -> tuple[Copy, ...]:
    """One for each node, read at the same time.

    Raises:
        EvidenceError: see :func:`act`.
        NodeUnreachableError: see :func:`act`.
    """
    arguments = (str(deployment.model.path), str(READERS))
    wanted = {node.name: script("hash_shards", node.python, *arguments, limit_s=LIMIT_S) for node in deployment.node}
    said = act(deployment, evidence, wanted)
    return tuple(
        Copy(name, dict(found["digests"]), int(found["bytes"]), float(found["seconds"])) for name, found in said.items()
    )


def differing(copies: tuple[Copy, ...]) -> tuple[str, ...]:
    """Names of shards that are not the same bytes on all nodes, in order."""
    names = sorted({name for copy in copies for name in copy.digests})
    return tuple(name for name in names if len({copy.digests.get(name) for copy in copies}) > 1)
