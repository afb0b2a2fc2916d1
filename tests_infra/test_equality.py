"""What must be equal on all nodes, or is better so; the summary puts all that differs into one table."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from fixtures.claim import Claim
from shakedown.engines.nccl import OWN_TO_EACH
from shakedown.inventory.model import Deployment
from shakedown.nodes.equality import differences, in_words
from shakedown.nodes.ranks import rank_of
from shakedown.nodes.views.node import NodeViews

pytestmark = pytest.mark.infra

CLUSTER = ("ray", "serving")
ALWAYS = ("hosts", *CLUSTER)


@pytest.mark.check("PLT-03", stages=ALWAYS)
def test_systems_are_equal(pair: dict[str, NodeViews], claim: Claim) -> None:
    """Kernel, system, driver and firmware are the same on all nodes."""
    uneven = differences(pair, _system)
    claim(not uneven, found=in_words(uneven), differs=uneven, expected="the same on all nodes")


@pytest.mark.check("NET-18", stages=ALWAYS)
def test_nccl_libraries_are_equal(pair: dict[str, NodeViews], claim: Claim) -> None:
    """The NCCL beside PyTorch has one version on all nodes."""
    if not any(view.system.nccl for view in pair.values()):
        pytest.skip("no node has an NCCL beside its PyTorch")
    uneven = differences(pair, lambda view: {"NCCL": view.system.nccl or "none"})
    claim(not uneven, found=in_words(uneven), differs=uneven, expected="the same NCCL on all nodes")


@pytest.mark.check("NET-18", stages=CLUSTER, needs=("RAY-03",))
def test_nccl_settings_are_equal(
    pair: dict[str, NodeViews], head: NodeViews, deployment: Deployment, claim: Claim
) -> None:
    """Variables of NCCL and UCX, but for those that name devices of a node, reach all ranks with one value or none."""
    uneven = differences(pair, lambda view: _nccl_settings(rank_of(view, head, deployment).final))
    claim(
        not uneven,
        found=in_words(uneven),
        differs=uneven,
        expected="the same in the environment of `ray start` on all nodes",
    )


@pytest.mark.check("NET-10", stages=ALWAYS, severity="warning")
def test_fabric_devices_have_the_same_names(pair: dict[str, NodeViews], claim: Claim) -> None:
    """The fabric NIC and the active HCAs have the same names on all nodes, so that one setting serves all."""
    uneven = differences(pair, _names)
    claim(
        not uneven,
        found=in_words(uneven),
        differs=uneven,
        expected="the same names: the cable in the same port of every machine",
    )


def _system(view: NodeViews) -> dict[str, str]:
    firmware = " ".join(sorted(set(view.rdma.firmware.values())))
    return {**view.system.versions, **({"firmware of the HCAs": firmware} if firmware else {})}


def _nccl_settings(environment: Mapping[str, str]) -> dict[str, str]:
    return {
        name: value
        for name, value in environment.items()
        if name.startswith(("NCCL_", "UCX_", "VLLM_NCCL_")) and name not in OWN_TO_EACH
    }


def _names(view: NodeViews) -> dict[str, str]:
    return {
        "fabric NIC": view.node.interface,
        "active HCAs": " ".join(sorted(port.hca for port in view.rdma.active)) or "none",
    }
