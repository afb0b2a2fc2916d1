"""Tier 1: a Ray task on every node, which is the shortest thing that Ray does for the engine."""

from __future__ import annotations

import pytest

from fixtures.claim import Claim
from shakedown.inventory.model import Deployment
from shakedown.nodes.active import ray_tasks
from shakedown.nodes.evidence import Evidence

pytestmark = pytest.mark.infra


@pytest.mark.check("RAY-13", stages=("ray",), needs=("RAY-01", "RAY-03", "RAY-08"), tier=1)
def test_a_task_on_every_node_imports_the_engine(deployment: Deployment, evidence: Evidence, claim: Claim) -> None:
    """A Ray task bound to each node runs there, under the node's fabric address, and its Python imports the engine."""
    tasks = ray_tasks.tasks(deployment, evidence)
    declared = {str(node.fabric_address) for node in deployment.node}
    astray = [task for task in tasks if task.problem or task.address != task.node]
    missing = declared - {task.address for task in tasks}
    claim(
        not astray and not missing,
        found="; ".join([*map(str, astray), *(f"no task ran as {address}" for address in sorted(missing))]),
        expected=f"a task on each of {', '.join(sorted(declared))} that imports {deployment.serve.engine}",
    )
