"""Ray on one node: the cluster as the GCS has it, and the raylet of the node."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from shakedown.errors import EvidenceError
from shakedown.inventory.model import Deployment, Node
from shakedown.nodes.advice import AS_ROOT
from shakedown.nodes.answer import Command, Place
from shakedown.nodes.views.base import View
from shakedown.nodes.views.ray_cluster import Cluster, ask_gcs, parse_cluster
from shakedown.nodes.views.ray_settings import Monitor, parse_monitor
from shakedown.nodes.views.raylet import RAYLETS, Raylet, parse_raylets

_CURRENT = Command(
    'file="${RAY_TMPDIR:-${TMPDIR:-/tmp}}/ray/ray_current_cluster"; [ ! -e "$file" ] || cat "$file"',
    Place.ENGINE,
    key="ray_current_cluster of the engine's user",
)
"""Where `ray.init()` looks when RAY_ADDRESS is not set. Source: ray/_private/{services,utils}.py of 2.60."""


class RayView(View):
    """Ray on one node. The tables of the GCS are asked on the head, everything else on every node."""

    @classmethod
    def commands(cls, deployment: Deployment, node: Node) -> tuple[Command, ...]:
        """One command finds the raylet and reads it, so that none depends on the answer of another.

        The head is also asked for the cluster that a driver without an address takes for its own.
        """
        own = (ask_gcs(deployment, node), RAYLETS)
        return (*own, _CURRENT) if node.role == "head" else own

    @cached_property
    def gcs_problem(self) -> str | None:
        """Why this node cannot connect to the GCS at the declared address; None if it can."""
        declared = self._json(ask_gcs(self._deployment, self._node))["declared"]
        return None if declared["reachable"] else str(declared["error"])

    @cached_property
    def unreachable(self) -> tuple[str, ...]:
        """Ports of the cluster's raylets, of all nodes, that this node cannot connect to; each with the reason.

        Raises:
            EvidenceError: no GCS told of them.
        """
        answer = self._json(ask_gcs(self._deployment, self._node))
        if answer.get("raylets") is None:
            why = answer.get("problem", "no answer")
            raise EvidenceError(f"the GCS told {self._node.name} of no raylet's ports: {why}")
        closed = (port for port in answer["raylets"] if not port["reachable"])
        return tuple(f"{port['role']} at {port['address']}: {port['error']}" for port in closed)

    @property
    def current_cluster(self) -> str | None:
        """The cluster that a driver attaches to which is given no address; None where `ray start` left none."""
        return self._text(_CURRENT).strip() or None

    @cached_property
    def cluster(self) -> Cluster:
        """The tables of the GCS; only the head is asked for them.

        Raises:
            EvidenceError: no GCS answers, or this is not the head.
        """
        answer = self._json(ask_gcs(self._deployment, self._node))
        if not answer.get("tables"):
            gcs = answer.get("gcs", {"address": "an address that is asked of the head only"})
            raise EvidenceError(
                f"no GCS answers {self._node.name} at {gcs['address']}: {gcs.get('error', 'not asked')}"
            )
        return parse_cluster(answer["tables"])

    @cached_property
    def raylets(self) -> tuple[Raylet, ...]:
        """All raylets that run on the node."""
        return parse_raylets(self._text(RAYLETS))

    @property
    def raylet(self) -> Raylet:
        """The one raylet of the node.

        Raises:
            EvidenceError: none runs, or several.
        """
        if len(self.raylets) != 1:
            pids = ", ".join(str(raylet.pid) for raylet in self.raylets) or "none"
            raise EvidenceError(f"one raylet should run on {self._node.name}; running: {pids}")
        return self.raylets[0]

    @property
    def environment(self) -> Mapping[str, str]:
        """The environment of the node's raylet, which its workers inherit.

        Raises:
            EvidenceError: there is no single raylet, or its environment is not ours to read.
        """
        raylet = self.raylet
        if raylet.environment is None:
            raise EvidenceError(
                f"the environment of raylet {raylet.pid} on {self._node.name} may not be read by this user",
                self._how_to_read_it(),
            )
        return raylet.environment

    def _how_to_read_it(self) -> str:
        container = self._deployment.container
        if container is None:
            return AS_ROOT
        return (
            "run Ray in the container as the user that `docker inspect -f '{{.Config.User}}'` names, or the container "
            f"as root: it belongs to another user than the one that `docker exec {container.name}` gives"
        )

    @property
    def monitor(self) -> Monitor:
        """What the raylet itself wrote about its memory monitor when it started.

        Raises:
            EvidenceError: there is no single raylet, or it wrote no such line.
        """
        return parse_monitor(self.raylet.monitor_lines)
