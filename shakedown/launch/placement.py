"""Why a placement group is not met, from the tables of the GCS: a node that is missing, an accelerator not free."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from shakedown.errors import EvidenceError
from shakedown.inventory.model import Deployment, Node
from shakedown.launch.stall import Cause, Gathered
from shakedown.nodes.views.ray_cluster import Cluster, RayNode, parse_cluster

SECTION = "ray cluster"
ACCELERATOR = "GPU"


def unplaced(deployment: Deployment, gathered: Sequence[Gathered]) -> Cause | None:
    """What the cluster lacks of what the deployment asks for; None where it lacks nothing, or nothing is known."""
    cluster = next(filter(None, map(_cluster, gathered)), None)
    if cluster is None:
        return None
    evidence = tuple(f"in the cluster: {row}" for row in cluster.nodes)
    evidence += tuple(f"placement group {id[:8]}: {state}" for id, state in cluster.groups.items())
    return next((Cause(*wrong, evidence) for wrong in _wrong(deployment, cluster)), None)


def _wrong(deployment: Deployment, cluster: Cluster) -> Iterator[tuple[str, str, str]]:
    rows = [(node, _row(node, cluster)) for node in deployment.node]
    for node, row in rows:
        if row is None:
            alive = ", ".join(str(row) for row in cluster.alive) or "nobody"
            yield "RAY-03", node.name, f"{node.name} is not in the cluster; alive there: {alive}"
    for node, row in rows:
        if row is None:
            continue
        has, free = (amounts.get(ACCELERATOR, 0.0) for amounts in (row.resources, row.available))
        if has < node.gpus:
            yield "RAY-06", node.name, f"Ray has {has:g} {ACCELERATOR} on {node.name}; {node.gpus} are meant"
        elif free < node.gpus:
            yield "RAY-06", node.name, f"{has - free:g} of {has:g} {ACCELERATOR} on {node.name} are reserved already"


def _row(node: Node, cluster: Cluster) -> RayNode | None:
    """Ray may know a node by another address than is meant, which is another fault: then by its name."""
    known = (str(node.fabric_address), node.name)
    return next((row for row in cluster.alive if row.address == known[0] or row.hostname == known[1]), None)


def _cluster(one: Gathered) -> Cluster | None:
    try:
        return parse_cluster(json.loads("\n".join(one.section(SECTION) or ()))["tables"])
    except (ValueError, KeyError, TypeError, EvidenceError):
        return None
