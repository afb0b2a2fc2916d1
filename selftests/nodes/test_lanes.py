"""The lanes of a recorded pair, and what perftest prints."""

from __future__ import annotations

import pytest

from selftests.proofs.bundle import in_text
from selftests.proofs.gb10.costume import FILE, bundle_of
from shakedown.errors import EvidenceError
from shakedown.inventory.load import load_deployment
from shakedown.nodes.active.lanes import Lane, lanes
from shakedown.nodes.active.verbs import parse_average, with_devices
from shakedown.nodes.evidence import Evidence
from shakedown.nodes.views.node import NodeViews, fetch
from shakedown.outcomes import Stage

# The end of a run on one half of a port; the line between comes from machines whose clocks vary.
MEASURED = """\
---------------------------------------------------------------------------------------
 #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]
Conflicting CPU frequency values detected: 1500.000000 != 3300.016000. CPU Frequency is not max.
 65536      560845           0.00               98.02                0.186950
---------------------------------------------------------------------------------------
"""


def found(evidence: Evidence) -> tuple[Lane, ...]:
    """The lanes of the pair in GB10's shape."""
    deployment = load_deployment(FILE)
    fetch(deployment, evidence)
    return lanes({node.name: NodeViews(deployment, node, evidence) for node in deployment.node}, deployment)


def test_a_port_of_two_halves_is_two_lanes() -> None:
    first, second = found(Evidence.load(bundle_of(Stage.HOSTS)))
    assert (first.head.hca, first.worker.hca) == ("rocep1s0f1", "rocep1s0f1")
    assert (second.head.hca, str(second.worker.address)) == ("roceP2p1s0f1", "192.168.201.13")
    assert first.head.gid == 3
    assert "node-b by enp1s0f1np1" in str(first)


def test_a_lane_without_a_device_at_one_end_is_no_way_for_rdma() -> None:
    evidence = Evidence.load(bundle_of(Stage.HOSTS))
    in_text(evidence, "node-b", "RDMA devices", r"^roceP2p1s0f1/.*\n", "")
    both = found(evidence)
    assert len(both) == 2
    assert [lane.head.hca for lane in with_devices(both)] == ["rocep1s0f1"]


def test_the_average_is_read() -> None:
    assert parse_average(MEASURED) == pytest.approx(98.02)


@pytest.mark.parametrize("said", ["", "Unable to open file descriptor for socket connection", MEASURED[:200]])
def test_no_average_is_no_answer(said: str) -> None:
    with pytest.raises(EvidenceError, match="measured nothing"):
        parse_average(said, said)
