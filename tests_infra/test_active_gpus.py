"""Tier 2: GPUs under load, where alone a low clock shows."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fixtures.claim import Claim
from shakedown.inventory.model import Deployment, Node
from shakedown.nodes.active import gpus
from shakedown.nodes.evidence import Evidence
from shakedown.nodes.views.node import NodeViews
from shakedown.outcomes import Metric

pytestmark = pytest.mark.infra


@pytest.mark.check("PLT-04", stages=("hosts", "ray"), needs=("PLT-02", "MEM-09", "ENV-05"), tier=2)
def test_gpu_keeps_its_clocks_under_load(
    view: NodeViews,
    node: Node,
    deployment: Deployment,
    evidence: Evidence,
    claim: Claim,
    measured: Callable[[Metric], None],
) -> None:
    """Kept busy for some seconds, no GPU is slowed down by heat or power, and each leaves its lowest clocks."""
    if not view.gpu.gpus:
        pytest.skip("this node has no GPU that nvidia-smi knows")
    run = gpus.load(node, deployment, evidence)
    for gpu in run.gpus:
        measured(Metric(f"clock.{node.name}.{gpu.index}", gpu.clock_mhz, "MHz", "higher", gpu.samples))
    for number, tflops in enumerate(run.tflops):
        measured(Metric(f"bf16.{node.name}.{number}", tflops, "TFLOP/s", "higher"))
    least = deployment.profile.busy_clock_mhz or 0
    slow = [gpu for gpu in run.gpus if gpu.slowdowns or gpu.clock_mhz < least]
    claim(
        not slow,
        found="; ".join(map(str, slow)),
        expected=f"no slowdown, and at least {least} MHz ({deployment.profile.origin('busy_clock_mhz')})",
    )
