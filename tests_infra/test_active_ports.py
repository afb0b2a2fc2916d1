"""Tier 1: ports that nobody opened for us, tried between the nodes, both ways at once."""

from __future__ import annotations

import pytest

from fixtures.claim import Claim
from shakedown.inventory.model import Deployment
from shakedown.nodes.active import ports
from shakedown.nodes.evidence import Evidence

pytestmark = pytest.mark.infra


@pytest.mark.check("RAY-09", stages=("hosts", "ray"), needs=("NET-01", "NET-05", "NET-06"), tier=1)
def test_free_ports_are_open_between_the_nodes(deployment: Deployment, evidence: Evidence, claim: Claim) -> None:
    """Any free port of a node is reached from every other node over the fabric, as Ray, c10d, Gloo and NCCL need it."""
    ways = ports.ways(deployment, evidence)
    closed = [str(way) for way in ways if way.problems or not way.reached]
    claim(not closed, found="; ".join(closed), expected=f"{ports.COUNT} ports chosen at random open in every direction")
