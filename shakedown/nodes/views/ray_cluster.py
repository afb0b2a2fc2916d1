"""The Ray cluster as the GCS has it, and how it is asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from shakedown.errors import EvidenceError
from shakedown.inventory.model import Deployment, Node
from shakedown.nodes.answer import Command, python_script


@dataclass(frozen=True, slots=True)
class RayNode:
    """One row of ``ray.nodes()``.

    Attributes:
        id: hexadecimal.
        alive: as the GCS sees it.
        address: ``NodeManagerAddress``.
        hostname: ``NodeManagerHostname``.
        death: why it died, in Ray's words.
        resources, available: amounts by name, all and free.
    """

    id: str
    alive: bool
    address: str
    hostname: str
    death: str
    resources: Mapping[str, float]
    available: Mapping[str, float]

    def __str__(self) -> str:
        return f"{self.hostname} as {self.address} ({'alive' if self.alive else 'dead'}, {self.id[:8]})"


@dataclass(frozen=True, slots=True)
class Cluster:
    """What the GCS knows.

    Attributes:
        nodes: every row, dead ones included.
        groups: placement groups: id -> state.
        session: name of the session.
    """

    nodes: tuple[RayNode, ...]
    groups: Mapping[str, str]
    session: str | None

    @property
    def alive(self) -> tuple[RayNode, ...]:
        """Rows of nodes that are alive."""
        return tuple(node for node in self.nodes if node.alive)


def gcs_address(deployment: Deployment) -> str:
    """``host:port`` at which every node must find the GCS."""
    return f"{deployment.head.fabric_address}:{deployment.ray.port}"


def ask_gcs(deployment: Deployment, node: Node) -> Command:
    """Whether a node can connect to the GCS and to all raylets; of the head also what the GCS knows."""
    what = "tables" if node.role == "head" else "connect"
    return python_script("ray_cluster", node.python, gcs_address(deployment), what)


def parse_cluster(answer: Mapping[str, Any]) -> Cluster:
    """The script's JSON -> cluster.

    Raises:
        EvidenceError: a field is missing or of another type.
    """
    try:
        return Cluster(
            nodes=tuple(RayNode(**row) for row in answer["nodes"]),
            groups={group["id"]: group["state"] for group in answer["groups"]},
            session=answer["session"],
        )
    except (KeyError, TypeError) as error:
        raise EvidenceError(f"the answer about the cluster lacks {error}") from error
