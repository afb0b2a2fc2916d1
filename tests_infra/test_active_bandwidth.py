"""Tier 2: what the fabric carries, measured under load."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fixtures.claim import Claim
from shakedown.inventory.model import Deployment
from shakedown.nodes.active import bandwidth
from shakedown.nodes.evidence import Evidence
from shakedown.nodes.views.node import NodeViews
from shakedown.outcomes import Metric

pytestmark = pytest.mark.infra


@pytest.mark.check("NET-02", stages=("hosts", "ray"), needs=("NET-01", "NET-06", "NET-07", "RAY-09"), tier=2)
def test_fabric_carries_its_share(
    pair: dict[str, NodeViews],
    deployment: Deployment,
    evidence: Evidence,
    claim: Claim,
    measured: Callable[[Metric], None],
) -> None:
    """Several TCP streams carry at least a tenth of the link's own speed, each way: a link in a bad state does not."""
    flows = bandwidth.flows(deployment, evidence)
    for flow in flows:
        measured(Metric(f"tcp.{flow.source}.{flow.target}", flow.mbps, "Mb/s", "higher", bandwidth.STREAMS))
    speeds = [view.network.fabric_speed_mbps for view in pair.values()]
    least = min((speed for speed in speeds if speed), default=0) * bandwidth.LEAST_SHARE
    slow = [str(flow) for flow in flows if flow.mbps < least or not flow.mbps]
    claim(
        not slow, found="; ".join(slow), expected=f"at least {least:.0f} Mb/s, {bandwidth.LEAST_SHARE:.0%} of the link"
    )
