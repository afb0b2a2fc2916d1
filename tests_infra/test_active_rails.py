"""Tier 1: the NICs of the fabric beside the declared one."""

from __future__ import annotations

import pytest

from fixtures.claim import Claim
from shakedown.nodes.active import rails
from shakedown.nodes.evidence import Evidence
from shakedown.nodes.views.node import NodeViews

pytestmark = pytest.mark.infra


@pytest.mark.check("NET-07", stages=("hosts", "ray"), needs=("NET-01",), tier=1)
def test_full_packets_pass_on_every_rail(pair: dict[str, NodeViews], evidence: Evidence, claim: Claim) -> None:
    """A packet that fills the MTU passes both ways, unfragmented, on every other NIC of the fabric, too."""
    echoes = rails.echoes(pair, evidence)
    if not echoes:
        pytest.skip("one NIC on the fabric: it is tried at tier 0")
    lost = [f"{rail}: {echo.said}" for rail, echo in echoes if not echo.received]
    claim(not lost, found="; ".join(lost), expected="an answer to a ping of each NIC's whole MTU in every direction")
