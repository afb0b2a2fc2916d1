"""Tier 1: a collective over all nodes, each rank started as a worker of the engine would be. Tier 2: how fast it is."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fixtures.claim import Claim
from shakedown.inventory.model import Deployment
from shakedown.nodes.active import collective
from shakedown.nodes.active.collective import Rank
from shakedown.nodes.evidence import Evidence
from shakedown.nodes.ranks import given
from shakedown.nodes.views.node import NodeViews
from shakedown.outcomes import Metric

pytestmark = pytest.mark.infra

BEFORE_SERVING = ("hosts", "ray")
BEHIND = ("NET-01", "NET-05", "NET-06", "NET-07", "RAY-09", "RAY-11")

Group = Callable[..., tuple[Rank, ...]]


@pytest.fixture
def group(head: NodeViews, pair: dict[str, NodeViews], deployment: Deployment, evidence: Evidence) -> Group:
    """One rank on each node, by the backend that is named, with the environment in which the engine's would end up."""

    def run(backend: str, sizes: tuple[int, ...] = ()) -> tuple[Rank, ...]:
        variables = {name: given(view, head, deployment) for name, view in pair.items()}
        return collective.ranks(deployment, evidence, backend, variables, sizes)

    return run


@pytest.mark.check("NET-16", stages=BEFORE_SERVING, needs=BEHIND, tier=1)
def test_ranks_meet_and_form_a_group(group: Group, claim: Claim) -> None:
    """One rank on each node, in the environment of the engine's workers, forms a group with the others through Gloo."""
    alone = [rank for rank in group("gloo") if not rank.has_group]
    claim(not alone, found=_listed(alone), expected=f"a group of all ranks within {collective.WAIT_S} s")


@pytest.mark.check("NET-16", stages=BEFORE_SERVING, needs=("NET-16",), tier=1)
def test_a_small_collective_ends_with_the_right_sum(group: Group, claim: Claim) -> None:
    """The ranks add up a megabyte through Gloo, and all get the same right result."""
    wrong = [rank for rank in group("gloo") if not rank.has_sum]
    claim(not wrong, found=_listed(wrong), expected=f"the sum of all ranks on every node within {collective.WAIT_S} s")


@pytest.mark.requires("gpus")
@pytest.mark.check("NET-17", stages=BEFORE_SERVING, needs=("NET-16",), tier=1)
def test_a_small_collective_of_nccl_ends(group: Group, claim: Claim) -> None:
    """The ranks add up a megabyte on their GPUs through NCCL, with the variables that the engine's workers have."""
    wrong = [rank for rank in group("nccl") if not rank.has_sum]
    claim(not wrong, found=_listed(wrong), expected=f"the sum of all ranks on every node within {collective.WAIT_S} s")


@pytest.mark.requires("gpus")
@pytest.mark.check("NET-11", stages=BEFORE_SERVING, needs=("NET-17", "NET-11"), tier=1)
def test_nccl_sends_by_rdma(group: Group, deployment: Deployment, claim: Claim) -> None:
    """Where HCAs are declared, all that NCCL sends to the peers goes by RDMA and nothing by sockets."""
    _skip_without_hcas(deployment)
    ranks = [rank for rank in group("nccl") if deployment.named(rank.node).hcas]
    slow = [f"{rank.node}: {rank.transport}" for rank in ranks if not rank.transport.by_rdma]
    claim(not slow, found="; ".join(slow), expected="`Using network IB` and `via NET/IB` in NCCL's own lines")


@pytest.mark.requires("gpus")
@pytest.mark.check("NET-03", stages=BEFORE_SERVING, needs=("NET-11",), tier=1)
def test_nccl_opens_every_declared_hca(group: Group, deployment: Deployment, claim: Claim) -> None:
    """NCCL opens all HCAs that are declared for a node, so that none of its halves of the port is idle."""
    _skip_without_hcas(deployment)
    left = []
    for rank in group("nccl"):
        opened = {hca for hca, _ in rank.transport.hcas}
        left += [
            f"{rank.node}: {hca} ({rank.transport})" for hca in deployment.named(rank.node).hcas if hca not in opened
        ]
    claim(not left, found=f"left out: {'; '.join(left)}", expected="all of them in NCCL's line `NET/IB : Using`")


@pytest.mark.check("NET-02", stages=BEFORE_SERVING, needs=("NET-16", "NET-17", "NET-11"), tier=2)
def test_large_collectives_are_as_fast_as_the_fabric(
    group: Group, deployment: Deployment, claim: Claim, measured: Callable[[Metric], None]
) -> None:
    """A sum of the largest size moves as many bytes a second as the profile says of the fabric; all are recorded."""
    backend = "gloo" if deployment.label else "nccl"  # embedded nodes promise accelerators that they have not
    ranks = group(backend, collective.SIZES)
    speeds = {
        size: collective.bus_bandwidth(size, seconds, len(ranks)) / 1e9 for size, seconds in ranks[0].timed.items()
    }
    for size, speed in speeds.items():
        measured(Metric(f"busbw.{backend}.{size}", speed, "GB/s", "higher", len(ranks)))
    least = deployment.profile.collective_gbytes_per_s or 0.0
    largest = max(speeds, default=0)
    claim(
        all(rank.has_sum for rank in ranks) and bool(speeds) and speeds[largest] >= least,
        found=_listed([rank for rank in ranks if not rank.has_sum])
        or f"{speeds.get(largest, 0):.2f} GB/s for sums of {largest} bytes",
        expected=f"sums that end, at {least:g} GB/s or more ({deployment.profile.origin('collective_gbytes_per_s')})",
    )


def _skip_without_hcas(deployment: Deployment) -> None:
    if not any(node.hcas for node in deployment.node):
        pytest.skip("no hcas declared for any node")


def _listed(ranks: list[Rank]) -> str:
    return "\n            ".join(str(rank) for rank in ranks)
