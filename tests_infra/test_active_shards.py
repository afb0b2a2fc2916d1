"""Tier 2: every byte of the model, on every node."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fixtures.claim import Claim
from shakedown.inventory.model import Deployment
from shakedown.nodes.active import shards
from shakedown.nodes.evidence import Evidence
from shakedown.outcomes import Metric

pytestmark = pytest.mark.infra


@pytest.mark.check("MOD-02", stages=("hosts", "ray"), needs=("MOD-01", "MOD-03"), tier=2)
def test_shards_are_the_same_bytes_on_all_nodes(
    deployment: Deployment, evidence: Evidence, claim: Claim, measured: Callable[[Metric], None]
) -> None:
    """Every shard has one SHA-256 on all nodes; how fast the disks gave them is recorded."""
    copies = shards.copies(deployment, evidence)
    for copy in copies:
        measured(Metric(f"read.{copy.node}", copy.bytes_per_s, "bytes/s", "higher", len(copy.digests)))
        measured(Metric(f"read_all.{copy.node}", copy.read_s, "s", "lower", note="no launch loads faster from there"))
    differing = shards.differing(copies)
    claim(
        bool(copies[0].digests) and not differing,
        found=f"{len(differing)} of {len(copies[0].digests)} shards differ: {', '.join(differing[:3])}",
        expected="equal SHA-256 of every shard on all nodes",
    )
