"""Tier 1: a collective over all nodes, each rank started as a worker of the engine would be."""

from __future__ import annotations

import pytest

from fixtures.claim import Claim
from shakedown.inventory.model import Deployment
from shakedown.nodes.active import collective
from shakedown.nodes.evidence import Evidence

pytestmark = pytest.mark.infra

BEFORE_SERVING = ("hosts", "ray")
BEHIND = ("NET-01", "NET-05", "NET-06", "RAY-09", "RAY-11")


@pytest.mark.check("NET-16", stages=BEFORE_SERVING, needs=BEHIND, tier=1)
def test_ranks_meet_and_form_a_group(deployment: Deployment, evidence: Evidence, claim: Claim) -> None:
    """One rank on each node, in the environment of the engine's workers, forms a group with the others through Gloo."""
    alone = [rank for rank in collective.ranks(deployment, evidence, "gloo") if not rank.has_group]
    claim(not alone, found=_listed(alone), expected=f"a group of all ranks within {collective.WAIT_S} s")


@pytest.mark.check("NET-16", stages=BEFORE_SERVING, needs=("NET-16",), tier=1)
def test_a_small_collective_ends_with_the_right_sum(deployment: Deployment, evidence: Evidence, claim: Claim) -> None:
    """The ranks add up a megabyte through Gloo, and all get the same right result."""
    wrong = [rank for rank in collective.ranks(deployment, evidence, "gloo") if not rank.has_sum]
    claim(not wrong, found=_listed(wrong), expected=f"the sum of all ranks on every node within {collective.WAIT_S} s")


@pytest.mark.requires("gpus")
@pytest.mark.check("NET-17", stages=BEFORE_SERVING, needs=("NET-16",), tier=1)
def test_a_small_collective_of_nccl_ends(deployment: Deployment, evidence: Evidence, claim: Claim) -> None:
    """The ranks add up a megabyte on their GPUs through NCCL, with the variables that the engine's workers have."""
    wrong = [rank for rank in collective.ranks(deployment, evidence, "nccl") if not rank.has_sum]
    claim(not wrong, found=_listed(wrong), expected=f"the sum of all ranks on every node within {collective.WAIT_S} s")


def _listed(ranks: list[collective.Rank]) -> str:
    return "\n            ".join(str(rank) for rank in ranks)
