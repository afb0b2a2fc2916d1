"""Tier 2: what the fabric carries, measured under load, and what it loses."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fixtures.claim import Claim
from shakedown.inventory.model import Deployment
from shakedown.nodes.active import bandwidth, counters, verbs
from shakedown.nodes.active.bandwidth import Flow
from shakedown.nodes.active.lanes import Lane, lanes
from shakedown.nodes.evidence import Evidence
from shakedown.nodes.views.node import NodeViews
from shakedown.outcomes import Metric

pytestmark = pytest.mark.infra

BEFORE_SERVING = ("hosts", "ray")


@pytest.fixture
def ways(pair: dict[str, NodeViews], deployment: Deployment) -> tuple[Lane, ...]:
    """From the head to each worker, one for each pair of fabric NICs."""
    return lanes(pair, deployment)


@pytest.fixture
def flows(ways: tuple[Lane, ...], deployment: Deployment, evidence: Evidence) -> tuple[Flow, ...]:
    """What TCP streams carried in both directions of each."""
    return bandwidth.flows(ways, deployment, evidence)


@pytest.mark.check("NET-02", stages=BEFORE_SERVING, needs=("NET-01", "NET-06", "NET-07", "RAY-09"), tier=2)
def test_fabric_carries_its_share(
    pair: dict[str, NodeViews], flows: tuple[Flow, ...], claim: Claim, measured: Callable[[Metric], None]
) -> None:
    """By each NIC several TCP streams carry at least a tenth of the link's own speed, each way: a bad link does not."""
    for flow in flows:
        measured(Metric(f"tcp.{flow.name}", flow.mbps, "Mb/s", "higher", bandwidth.STREAMS))
    least = _speed(pair) * bandwidth.LEAST_SHARE
    slow = [str(flow) for flow in flows if flow.mbps < least or not flow.mbps]
    claim(
        bool(flows) and not slow,
        found="; ".join(slow) or "no two fabric NICs in one subnet",
        expected=f"at least {least:.0f} Mb/s, {bandwidth.LEAST_SHARE:.0%} of the link",
    )


@pytest.mark.check("NET-21", stages=BEFORE_SERVING, needs=("NET-02",), tier=2)
def test_hardly_a_packet_is_sent_again(
    flows: tuple[Flow, ...], claim: Claim, measured: Callable[[Metric], None]
) -> None:
    """Of what TCP sends by each fabric NIC next to nothing is lost on the way and sent again."""
    known = {flow: flow.sent_again for flow in flows if flow.sent_again is not None}
    if not known:
        pytest.skip("the kernels do not tell how many packets were sent again")
    for flow, share in known.items():
        measured(Metric(f"sent_again.{flow.name}", share * 100, "%", "lower", bandwidth.STREAMS))
    lossy = [str(flow) for flow, share in known.items() if share > bandwidth.MOST_SENT_AGAIN]
    claim(
        not lossy, found="; ".join(lossy), expected=f"at most {bandwidth.MOST_SENT_AGAIN:.0%} of the packets sent again"
    )


@pytest.mark.check("NET-02", stages=BEFORE_SERVING, needs=("NET-02", "NET-08", "NET-11", "NET-20"), tier=2)
def test_rdma_devices_carry_their_share(
    pair: dict[str, NodeViews],
    ways: tuple[Lane, ...],
    evidence: Evidence,
    claim: Claim,
    measured: Callable[[Metric], None],
) -> None:
    """Each RDMA device of the fabric writes to its peer at two fifths of the link's speed at least, each way."""
    if not verbs.with_devices(ways):
        pytest.skip("no RDMA device with a fabric address on both nodes")
    written = verbs.written(ways, evidence)
    if not written:
        pytest.skip("no ib_write_bw on both machines: package perftest")
    for one in written:
        measured(Metric(f"rdma.{one.name}", one.gbps, "Gb/s", "higher"))
    least = _speed(pair) * verbs.LEAST_SHARE / 1000
    slow = [str(one) for one in written if one.gbps < least]
    claim(not slow, found="; ".join(slow), expected=f"at least {least:.0f} Gb/s, {verbs.LEAST_SHARE:.0%} of the link")


@pytest.mark.check("NET-21", stages=BEFORE_SERVING, needs=("NET-02",), tier=2)
def test_no_error_is_counted_under_load(
    pair: dict[str, NodeViews], flows: tuple[Flow, ...], evidence: Evidence, claim: Claim
) -> None:
    """While the fabric was loaded no counter of damaged packets, changes of carrier or repeats has grown."""
    grown = counters.grown(pair, evidence)
    claim(bool(flows) and not grown, found="; ".join(grown), expected="the same counts before and after the load")


def _speed(pair: dict[str, NodeViews]) -> int:
    """Of the slowest fabric NIC that tells, Mb/s; 0 where none does."""
    return min((speed for view in pair.values() if (speed := view.network.fabric_speed_mbps)), default=0)
