"""Memory: what would kill the ranks, and whether there is room for them."""

from __future__ import annotations

import pytest

from fixtures.claim import Claim
from shakedown.inventory.model import Deployment, Node
from shakedown.nodes.views.memory import GIB
from shakedown.nodes.views.node import NodeViews
from shakedown.nodes.views.ray import MONITOR_VARIABLES, monitor_setting, same_threshold

pytestmark = pytest.mark.infra

CLUSTER = ("ray", "serving")


@pytest.mark.check("MEM-01", stages=CLUSTER, needs=("RAY-03",))
def test_raylet_environment_sets_the_monitor_as_declared(view: NodeViews, deployment: Deployment, claim: Claim) -> None:
    """Every raylet's own environment sets Ray's memory monitor as the deployment file declares."""
    variables = view.ray.environment
    claim(
        same_threshold(monitor_setting(variables), _declared(deployment)),
        found=", ".join(f"{name}={variables.get(name, 'not set')}" for name in MONITOR_VARIABLES),
        expected=f"memory_monitor = {deployment.ray.memory_monitor!r} of the deployment file",
    )


@pytest.mark.check("MEM-01", stages=CLUSTER, needs=("RAY-03",))
def test_raylet_says_the_monitor_is_as_declared(view: NodeViews, deployment: Deployment, claim: Claim) -> None:
    """Every raylet's own log says that the memory monitor is as the deployment file declares."""
    monitor = view.ray.monitor
    claim(
        same_threshold(monitor.threshold, _declared(deployment)),
        found=f"raylet.out: {monitor.line}",
        expected=f"memory_monitor = {deployment.ray.memory_monitor!r} of the deployment file",
    )


@pytest.mark.check("MEM-01", stages=CLUSTER, needs=("RAY-03",))
def test_raylet_log_and_environment_agree(view: NodeViews, claim: Claim) -> None:
    """What a raylet says about its memory monitor is what its environment asked for."""
    asked, said = monitor_setting(view.ray.environment), view.ray.monitor
    claim(
        same_threshold(asked, said.threshold),
        found=f"environment: {_words(asked)}; raylet.out: {said.line}",
        expected="one and the same; where they differ, the log is right and something else than the environment set it",
    )


@pytest.mark.check("MEM-04", stages=("hosts", "ray"), needs=("MOD-03",))
def test_memory_holds_the_weights_and_a_reserve(
    view: NodeViews, node: Node, deployment: Deployment, claim: Claim
) -> None:
    """Before the model is loaded, every node has memory available for its share of the weights and a reserve."""
    share = _share_of_weights(view, node, deployment) if view.memory.weights_live_here else 0
    reserve = deployment.profile.memory_headroom_gib
    available = view.memory.available / GIB
    claim(
        available >= share / GIB + reserve,
        found=f"{available:.1f} GiB available of {view.memory.total / GIB:.1f}",
        expected=f"{share / GIB:.1f} GiB of weights + {reserve:g} GiB reserve (profile {deployment.profile.name})",
    )


def _share_of_weights(view: NodeViews, node: Node, deployment: Deployment) -> float:
    """Bytes of the ranks that run on this node: one a declared accelerator, one where none is declared."""
    ranks = deployment.serve.tensor_parallel * deployment.serve.pipeline_parallel
    return view.model_files.folder.weights * min(1.0, max(1, node.gpus) / ranks)


def _declared(deployment: Deployment) -> float | None:
    monitor = deployment.ray.memory_monitor
    return None if monitor == "disabled" else monitor


def _words(threshold: float | None) -> str:
    return "disabled" if threshold is None else f"kills at {threshold:g} of the memory"
