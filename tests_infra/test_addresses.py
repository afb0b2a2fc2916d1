"""Which address Ray and the engine take for a node's own, and whether every node was told the right one."""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import ip_address

import pytest

from fixtures.claim import Claim
from shakedown.engines.vllm.environment import GLOO_NICS, gloo_nics
from shakedown.engines.vllm.handover import HOST_IP
from shakedown.inventory.model import Deployment, Node
from shakedown.nodes.ranks import Rank, driver_of, rules_of
from shakedown.nodes.start import start_of
from shakedown.nodes.views.network import Interface
from shakedown.nodes.views.node import NodeViews

pytestmark = pytest.mark.infra

CLUSTER = ("ray", "serving")

LOOPBACK_INSTEAD = "nothing, where PyTorch takes 127.0.0.1"


@pytest.mark.check("RAY-02", stages=("hosts", *CLUSTER))
def test_no_other_nodes_host_ip_stands_on_the_node(view: NodeViews, node: Node, claim: Claim) -> None:
    """Where VLLM_HOST_IP stands in a node's own environment, it is that node's fabric address."""
    value = view.environment.login.get(HOST_IP)
    claim(
        value in (None, str(node.fabric_address)),
        found=f"{HOST_IP}={value} in the environment of whatever is started there",
        expected=f"{node.fabric_address}, or not set before the launch",
    )


@pytest.mark.check("RAY-01", stages=CLUSTER, needs=("RAY-03",))
def test_raylet_was_told_the_fabric_address(view: NodeViews, node: Node, claim: Claim) -> None:
    """Ray runs under the fabric address on every node, not under the one it would have found by itself."""
    told = view.ray.raylet.argument("node_ip_address")
    claim(
        told == str(node.fabric_address),
        found=f"the raylet runs with --node-ip-address={told}; by itself it would take {_by_itself(view)}",
        expected=f"--node-ip-address={node.fabric_address}",
    )


@pytest.mark.check("RAY-02", stages=CLUSTER, needs=("RAY-03",))
def test_engine_will_take_the_fabric_address(view: NodeViews, node: Node, claim: Claim) -> None:
    """VLLM_HOST_IP in the raylet's environment, or else the default route, gives every node its own fabric address."""
    value = view.ray.environment.get(HOST_IP)
    taken = value or _by_itself(view)
    claim(
        taken == str(node.fabric_address),
        found=f"{HOST_IP} is {value or 'not set'} in the raylet's environment, so workers of vLLM take {taken}",
        expected=f"{HOST_IP}={node.fabric_address}",
    )


@pytest.mark.check("RAY-02", stages=CLUSTER, needs=("RAY-03",))
def test_server_will_take_the_fabric_address(head: NodeViews, deployment: Deployment, claim: Claim) -> None:
    """Where the server's own address places the ranks, as by default before 0.21, it is that of the head's fabric."""
    start = start_of(head, deployment)
    if start is None or start.open_ended:
        pytest.skip("what variables the server will have is not known: a script, or a file of variables, sets them")
    driver = driver_of(head, deployment)
    if rules_of(head, deployment, driver).everything:
        pytest.skip("the executor of this release does not ask for the server's own address")
    value = driver.environment.get(HOST_IP)
    taken = value or _by_itself(head)
    claim(
        taken == str(head.node.fabric_address),
        found=f"{HOST_IP} is {value or 'not set'} for {driver.known_from}, so the server takes {taken}",
        expected=f"{HOST_IP}={head.node.fabric_address} for the server, too",
        node=head.node.name,
    )


@pytest.mark.check("NET-13", stages=CLUSTER, needs=("RAY-03",))
def test_gloo_is_told_fabric_nics(view: NodeViews, rank: Rank, deployment: Deployment, claim: Claim) -> None:
    """Every NIC that GLOO_SOCKET_IFNAME names to this node's ranks is one of this node with a fabric address."""
    _claim_fabric_nics(rank.final, view, deployment, claim)


@pytest.mark.requires("container")
@pytest.mark.check("NET-13", stages=("hosts",), needs=("ENV-03",))
def test_container_tells_gloo_fabric_nics(view: NodeViews, deployment: Deployment, claim: Claim) -> None:
    """Every NIC that GLOO_SOCKET_IFNAME names in the environment of the container has a fabric address of this node."""
    _claim_fabric_nics(view.environment.login, view, deployment, claim)


@pytest.mark.check("NET-14", stages=CLUSTER, needs=("RAY-03",))
def test_gloo_does_not_offer_loopback(view: NodeViews, rank: Rank, claim: Claim) -> None:
    """Unless Gloo is told a NIC, the node's own name resolves, and first to an address that its peers can reach."""
    _claim_no_loopback(rank.final, view, claim)


@pytest.mark.requires("container")
@pytest.mark.check("NET-14", stages=("hosts",), needs=("ENV-03",), severity="warning")
def test_container_does_not_leave_gloo_to_loopback(view: NodeViews, claim: Claim) -> None:
    """The container names a NIC to Gloo, or its name resolves to what peers can reach; `ray start` may do it yet."""
    _claim_no_loopback(view.environment.login, view, claim)


def _claim_fabric_nics(environment: Mapping[str, str], view: NodeViews, deployment: Deployment, claim: Claim) -> None:
    told = environment.get(GLOO_NICS)
    nics = view.network.interfaces
    wrong = [name for name in gloo_nics(told) if not _is_on_fabric(nics.get(name), deployment)]
    fitting = [name for name, nic in nics.items() if _is_on_fabric(nic, deployment)]
    claim(
        not wrong,
        found=f"{GLOO_NICS}={told} for the ranks; NICs of this node: {', '.join(nics)}",
        expected=f"{view.node.interface}, or not set; NICs with a fabric address: {', '.join(fitting) or 'none'}",
    )


def _claim_no_loopback(environment: Mapping[str, str], view: NodeViews, claim: Claim) -> None:
    told = bool(gloo_nics(environment.get(GLOO_NICS)))
    own = () if told else view.environment.own_addresses
    claim(
        told or (bool(own) and not ip_address(own[0]).is_loopback),
        found=f"{GLOO_NICS} is not set and the node's own name resolves to {', '.join(own) or LOOPBACK_INSTEAD}",
        expected=f"{GLOO_NICS} set, or a name that resolves, and first to no loopback address",
    )


def _by_itself(view: NodeViews) -> str:
    route = view.network.default_route
    return str(route.source) if route else "none: there is no default route"


def _is_on_fabric(nic: Interface | None, deployment: Deployment) -> bool:
    return nic is not None and any(deployment.fabric.holds(address.ip) for address in nic.addresses)
