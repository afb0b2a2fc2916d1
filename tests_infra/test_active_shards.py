"""Tier 2: every byte of the model, on every node, and how long reading them takes."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fixtures.claim import Claim
from shakedown.engines.vllm.environment import READY_TIMEOUT, READY_TIMEOUT_DEFAULT_S
from shakedown.inventory.model import Deployment
from shakedown.nodes.active import shards
from shakedown.nodes.evidence import Evidence
from shakedown.nodes.ranks import driver_of
from shakedown.nodes.start import start_of
from shakedown.nodes.views.node import NodeViews
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


@pytest.mark.check("SRV-07", stages=("hosts", "ray"), needs=("MOD-01",), tier=2)
def test_front_ends_wait_longer_than_the_disks_take(
    head: NodeViews, deployment: Deployment, evidence: Evidence, claim: Claim
) -> None:
    """Where several API servers wait for the engine, they wait longer than the slowest node takes to read the model."""
    start = start_of(head, deployment)
    servers = (start.command.api_servers or 1) if start else 1
    if servers == 1:
        pytest.skip("one API server is declared, which waits for the engine without a limit")
    limit = float(driver_of(head, deployment).environment.get(READY_TIMEOUT, READY_TIMEOUT_DEFAULT_S))
    slowest = max(shards.copies(deployment, evidence), key=lambda copy: copy.read_s)
    claim(
        slowest.read_s < limit,
        found=f"{servers} API servers wait {limit:g} s; the disk takes {slowest.read_s:.0f} s for all shards",
        expected=f"{READY_TIMEOUT} well above that, or one API server, which waits without a limit",
        node=slowest.node,
    )
