"""The environment that every rank ends up with, by the rules of the installed engine."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from fixtures.claim import Claim
from shakedown.engines.vllm.environment import concerns_all_ranks, debugging, without_rdma
from shakedown.engines.vllm.handover import OWN_TO_EACH
from shakedown.inventory.model import Deployment, Node
from shakedown.nodes.ranks import Rank, driver_of, rank_of
from shakedown.nodes.views.node import NodeViews

pytestmark = pytest.mark.infra

CLUSTER = ("ray", "serving")


@pytest.mark.check("ENV-01", stages=CLUSTER, needs=("RAY-03",))
def test_variables_of_all_ranks_are_set_everywhere(
    pair: dict[str, NodeViews], head: NodeViews, deployment: Deployment, claim: Claim
) -> None:
    """A variable on which all ranks depend reaches the ranks of every node, or of none."""
    final = {name: rank_of(view, head, deployment).final for name, view in pair.items()}
    uneven = []
    for variable in sorted({name for environment in final.values() for name in environment}):
        having = [node for node, environment in final.items() if variable in environment]
        if concerns_all_ranks(variable) and len(having) < len(pair):
            lacking = ", ".join(node for node in pair if node not in having)
            uneven.append(f"{variable}: reaches the ranks of {', '.join(having)}, not those of {lacking}")
    claim(
        not uneven,
        found="; ".join(uneven) + f" (the driver's environment: {driver_of(head, deployment).known_from})",
        expected="in the environment of `ray start` on all nodes or on none",
    )


@pytest.mark.check("ENV-02", stages=CLUSTER, needs=("RAY-03",))
def test_variables_of_the_server_reach_its_ranks(
    rank: Rank, head: NodeViews, deployment: Deployment, claim: Claim
) -> None:
    """What is set for the server and decides how ranks work is set for the ranks of this node, too."""
    driver = driver_of(head, deployment)
    known = rank.final.keys() | OWN_TO_EACH | head.environment.not_handed_over
    lost = [name for name in driver.environment if concerns_all_ranks(name) and name not in known]
    claim(
        not lost,
        found=f"{', '.join(lost)}: set for {driver.known_from}, handed over by no rule of the installed release",
        expected="set for `ray start` on this node, or named in VLLM_RAY_EXTRA_ENV_VARS_TO_COPY",
    )


@pytest.mark.check("ENV-09", stages=("hosts", *CLUSTER))
def test_no_file_keeps_variables_from_the_workers(head: NodeViews, claim: Claim) -> None:
    """No file in the engine's configuration on the head keeps variables from its workers."""
    names = sorted(head.environment.not_handed_over)
    claim(
        not names,
        found=f"ray_non_carry_over_env_vars.json names {', '.join(names)}",
        expected="no such file, or an empty list",
        node=head.node.name,
    )


@pytest.mark.check("ENV-09", stages=CLUSTER, needs=("RAY-03",))
def test_the_driver_replaces_nothing(rank: Rank, claim: Claim) -> None:
    """The driver replaces no value that was set for the ranks of this node."""
    claim(
        not rank.replaced,
        found="; ".join(f"{name}: {own!r} here becomes {given!r}" for name, (own, given) in rank.replaced.items()),
        expected="the same values on all nodes, or a release that fills gaps only (0.21 and later)",
    )


@pytest.mark.check("ENV-07", stages=CLUSTER, needs=("RAY-03",))
def test_nothing_is_left_of_debugging(node: Node, rank: Rank, claim: Claim) -> None:
    """No setting that is for finding faults, and slows down or fills logs, reaches the ranks of this node."""
    _claim_no_debugging(rank.final, node, claim)


@pytest.mark.requires("container")
@pytest.mark.check("ENV-07", stages=("hosts",), needs=("ENV-03",))
def test_nothing_is_left_of_debugging_in_the_container(view: NodeViews, node: Node, claim: Claim) -> None:
    """No setting that is for finding faults stands in the environment of the container, which every rank inherits."""
    _claim_no_debugging(view.environment.login, node, claim)


def _claim_no_debugging(environment: Mapping[str, str], node: Node, claim: Claim) -> None:
    on = list(debugging(environment))
    if node.hcas:
        on += [f"{setting} although hcas are declared" for setting in without_rdma(environment)]
    claim(not on, found=", ".join(on), expected="none of these")
