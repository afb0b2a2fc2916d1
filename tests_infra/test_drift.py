"""Drift: whether a node still says what it said when all was well."""

from __future__ import annotations

import pytest

from fixtures.claim import Claim
from shakedown.inventory.model import Deployment, Node
from shakedown.nodes.evidence import Evidence
from shakedown.nodes.golden import drift, listed
from shakedown.nodes.views.node import commands

pytestmark = pytest.mark.infra


@pytest.mark.check("DRF-01", stages=("hosts", "ray", "serving"))
def test_node_says_what_it_said_then(
    node: Node, deployment: Deployment, evidence: Evidence, golden: Evidence, claim: Claim
) -> None:
    """Every node answers as in the golden bundle, but for what changes by itself."""
    differences = drift(golden, evidence, node, commands(deployment, node))
    claim(
        not differences,
        found=listed(differences),
        expected=f"what it said at stage {golden.stage}, {golden.recorded} (--golden)",
    )
