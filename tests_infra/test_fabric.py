"""The fabric: links, addresses, and whether packets of every size pass both ways."""

from __future__ import annotations

import pytest

from fixtures.claim import Claim
from shakedown.inventory.model import Deployment, Node
from shakedown.nodes.views.node import NodeViews

pytestmark = pytest.mark.infra

ALWAYS = ("hosts", "ray", "serving")


@pytest.mark.check("NET-01", stages=ALWAYS)
def test_fabric_nic_is_up(view: NodeViews, node: Node, claim: Claim) -> None:
    """The fabric NIC of every node is up and sees a signal."""
    nic = view.network.interface(node.interface)
    there = ", ".join(view.network.interfaces)
    claim(nic.is_up, found=f"{nic}; NICs of this node: {there}", expected=f"{node.interface} up, with a carrier")


@pytest.mark.check("NET-05", stages=ALWAYS, needs=("NET-01",))
def test_fabric_nic_has_the_declared_address(view: NodeViews, node: Node, claim: Claim) -> None:
    """The fabric NIC of every node has the fabric address that the deployment file declares."""
    owner = view.network.owner(node.fabric_address)
    claim(
        owner is not None and owner.name == node.interface,
        found=f"{view.network.interface(node.interface)}; {node.fabric_address} is on {owner or 'no NIC of this node'}",
        expected=f"{node.fabric_address} on {node.interface}",
    )


@pytest.mark.check("NET-01", stages=ALWAYS, needs=("NET-01",))
def test_fabric_links_have_one_speed(pair: dict[str, NodeViews], deployment: Deployment, claim: Claim) -> None:
    """The fabric links of all nodes run at one speed, at least that of the profile."""
    speeds = {name: view.network.fabric_speed_mbps for name, view in pair.items()}
    needed = deployment.profile.fabric_speed_mbps
    slow = [name for name, speed in speeds.items() if needed and (speed is None or speed < needed)]
    claim(
        len(set(speeds.values())) == 1 and not slow,
        found=", ".join(f"{name} {speed or 'unknown'} Mb/s" for name, speed in speeds.items()),
        expected="equal speeds" + (f", at least {needed} Mb/s (profile {deployment.profile.name})" if needed else ""),
    )


@pytest.mark.check("NET-06", stages=ALWAYS, needs=("NET-01", "NET-05"))
def test_nodes_reach_each_other_over_the_fabric(
    pair: dict[str, NodeViews], deployment: Deployment, claim: Claim
) -> None:
    """Every node gets an answer from every other node through its fabric NIC."""
    silent = []
    for view in pair.values():
        for peer in (other for other in deployment.node if other.name != view.node.name):
            echo = view.network.echo(peer)
            if not echo.received:
                silent.append(f"{view.node.name} -> {peer.name} ({peer.fabric_address}): {echo.said}")
    claim(not silent, found="; ".join(silent), expected="an answer to ping in every direction")


@pytest.mark.check("NET-06", stages=ALWAYS, needs=("NET-06",))
def test_peers_answer_with_their_own_nic(pair: dict[str, NodeViews], claim: Claim) -> None:
    """Whoever answers for a fabric address is a NIC of the node that has it.

    Any of its NICs: Linux answers ARP for all its addresses on every NIC of the same network, and one port of a GB10
    machine is two NICs.
    """
    wrong = []
    for view in pair.values():
        for other in (views for name, views in pair.items() if name != view.node.name):
            own = other.network.hardware_addresses
            seen = view.network.neighbour(other.node)
            if seen and seen not in own:  # None: reached through a router, so no hardware address is seen
                has = ", ".join(sorted(own))
                wrong.append(
                    f"{view.node.name} sees {other.node.fabric_address} at {seen}, {other.node.name} has {has}"
                )
    claim(not wrong, found="; ".join(wrong), expected="the hardware address of one of the peer's own NICs")


@pytest.mark.check("NET-07", stages=ALWAYS, needs=("NET-01",))
def test_fabric_mtus_are_equal(pair: dict[str, NodeViews], claim: Claim) -> None:
    """The fabric NICs of all nodes have one MTU."""
    mtus = _mtus(pair)
    claim(len(set(mtus.values())) == 1, found=_listed(mtus), expected="one MTU on all nodes")


@pytest.mark.check("NET-07", stages=ALWAYS, needs=("NET-06", "NET-07"))
def test_full_packets_pass_unfragmented(pair: dict[str, NodeViews], deployment: Deployment, claim: Claim) -> None:
    """A packet that fills the MTU passes between all nodes, both ways, without being fragmented."""
    lost = []
    for view in pair.values():
        mtu = view.network.interface(view.node.interface).mtu
        for peer in (other for other in deployment.node if other.name != view.node.name):
            echo = view.network.full_echo(peer)
            if not echo.received or echo.size != mtu:
                lost.append(f"{view.node.name} -> {peer.name}, {echo.size or mtu} bytes of {mtu}: {echo.said}")
    claim(not lost, found="; ".join(lost), expected="an answer to a ping of the NIC's whole MTU in every direction")


@pytest.mark.check("NET-07", stages=ALWAYS, needs=("NET-01",), severity="warning")
def test_fabric_mtus_are_as_large_as_the_fabric_carries(
    pair: dict[str, NodeViews], deployment: Deployment, claim: Claim
) -> None:
    """The MTU of every fabric NIC is at least that of the profile: a smaller one works, and is slow."""
    mtus, wanted = _mtus(pair), deployment.profile.fabric_mtu
    claim(
        min(mtus.values()) >= wanted,
        found=_listed(mtus),
        expected=f"at least {wanted} bytes (profile {deployment.profile.name})",
    )


@pytest.mark.check("NET-15", stages=ALWAYS)
def test_default_route_is_on_a_declared_network(view: NodeViews, deployment: Deployment, claim: Claim) -> None:
    """What a node would take for its own address by itself lies in a network that the deployment file names."""
    route = view.network.default_route
    known = route is None or deployment.fabric.holds(route.source) or deployment.management.holds(route.source)
    claim(
        known,
        found=f"the default route leaves by {route.device} as {route.source}" if route else "no default route",
        expected="no default route, or one in a subnet of [fabric] or [management]",
    )


def _mtus(pair: dict[str, NodeViews]) -> dict[str, int]:
    return {name: view.network.interface(view.node.interface).mtu for name, view in pair.items()}


def _listed(mtus: dict[str, int]) -> str:
    return ", ".join(f"{name} {mtu}" for name, mtu in mtus.items())
