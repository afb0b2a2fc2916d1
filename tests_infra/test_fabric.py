"""The fabric: links, adapters, and whether packets of every size pass both ways."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from fixtures.claim import Claim
from shakedown.inventory.model import Deployment, Node
from shakedown.nodes.views.links import Adapter
from shakedown.nodes.views.node import NodeViews

pytestmark = pytest.mark.infra

ALWAYS = ("hosts", "ray", "serving")

CARRIER_CHANGES = 20
"""Changes of carrier since the NIC was made that are no sign of anything: some at each start of either node. Ours."""

ERRORS = 10
"""Errors of one kind since the device was made that are no sign of anything; a cable that is plugged in leaves some.

Source: https://github.com/linux-rdma/rdma-core/blob/master/infiniband-diags/etc/error_thresholds (SymbolErrorCounter,
LinkDownedCounter, PortRcvErrors)
"""

SHARE = 1e-6
"""Of all packets, for the NIC's own errors: a machine that has run for months may have more than a few. Ours."""


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


@pytest.mark.check("NET-05", stages=ALWAYS, needs=("NET-05",), severity="warning")
def test_fabric_address_survives_a_reboot(view: NodeViews, node: Node, claim: Claim) -> None:
    """The fabric address of every node stands in a file from which the next boot sets it."""
    if node.namespace:
        pytest.skip("a set of namespaces is made anew and never booted")
    if node.fabric_address in view.network.interface(node.interface).lent:
        pytest.skip("a DHCP server lends the fabric address")
    settings = view.boot.settings
    if not settings.naming and not settings.others:
        pytest.skip("no file of netplan, NetworkManager, systemd-networkd or ifupdown on this node")
    claim(
        bool(settings.naming),
        found=f"{node.fabric_address} is set now and stands in none of {', '.join(settings.others)}",
        expected="in one of them, or the address goes with the next reboot",
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
        expected="equal speeds"
        + (f", at least {needed} Mb/s ({deployment.profile.origin('fabric_speed_mbps')})" if needed else ""),
    )


@pytest.mark.check("NET-06", stages=ALWAYS, needs=("NET-01", "NET-05"))
def test_nodes_reach_each_other_over_the_fabric(
    pair: dict[str, NodeViews], deployment: Deployment, claim: Claim
) -> None:
    """Every node gets an answer from every other node through its fabric NIC."""
    silent = []
    for view in pair.values():
        for peer in deployment.peers(view.node):
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
    claim(
        len(set(mtus.values())) == 1,
        found=_listed(mtus),
        expected="one MTU on all nodes",
        differs={"MTU of the fabric NIC": {name: str(mtu) for name, mtu in mtus.items()}},
    )


@pytest.mark.check("NET-07", stages=ALWAYS, needs=("NET-06", "NET-07"))
def test_full_packets_pass_unfragmented(pair: dict[str, NodeViews], deployment: Deployment, claim: Claim) -> None:
    """A packet that fills the MTU passes between all nodes, both ways, without being fragmented."""
    lost = []
    for view in pair.values():
        mtu = view.network.interface(view.node.interface).mtu
        for peer in deployment.peers(view.node):
            echo = view.network.full_echo(peer)
            if not echo.received or echo.size != mtu:
                lost.append(f"{view.node.name} -> {peer.name}, {echo.size or mtu} bytes of {mtu}: {echo.said}")
    claim(not lost, found="; ".join(lost), expected="an answer to a ping of the NIC's whole MTU in every direction")


@pytest.mark.check("NET-07", stages=ALWAYS, needs=("NET-01",), severity="warning")
def test_fabric_mtus_are_as_large_as_the_fabric_carries(
    pair: dict[str, NodeViews], deployment: Deployment, claim: Claim
) -> None:
    """The MTU of every fabric NIC is at least that of the profile: a smaller one works, and is slow."""
    wanted = deployment.profile.fabric_mtu
    mtus = {f"{name} {nic.name}": nic.mtu for name, view in pair.items() for nic in view.network.fabric_nics}
    small = {name: mtu for name, mtu in mtus.items() if mtu < wanted}
    claim(
        not small,
        found=_listed(small),
        expected=f"at least {wanted} bytes ({deployment.profile.origin('fabric_mtu')})",
    )


@pytest.mark.check("NET-02", stages=ALWAYS, needs=("NET-01",))
def test_fabric_adapters_have_their_whole_pcie_link(view: NodeViews, deployment: Deployment, claim: Claim) -> None:
    """Every fabric NIC sits on a PCIe link of the speed and width of the profile."""
    gts, lanes = deployment.profile.pcie_gts, deployment.profile.pcie_lanes
    if gts is None or lanes is None:
        pytest.skip(f"profile {deployment.profile.name} has no PCIe link to compare with")
    adapters = {nic.name: view.network.adapter(nic.name) for nic in view.network.fabric_nics}
    slow = [
        name for name, adapter in adapters.items() if (adapter.pcie_gts or 0) < gts or (adapter.pcie_lanes or 0) < lanes
    ]
    claim(
        not slow,
        found="; ".join(f"{name} {_link(adapter)}" for name, adapter in adapters.items()),
        expected=f"{gts:g} GT/s x{lanes} ({deployment.profile.origin('pcie_gts', 'pcie_lanes')})",
    )


@pytest.mark.check("NET-21", stages=ALWAYS, needs=("NET-01",))
def test_fabric_links_count_no_errors(view: NodeViews, claim: Claim) -> None:
    """The fabric NICs and their RDMA ports have counted hardly a damaged packet and no flapping since they started."""
    adapters = {nic.name: view.network.adapter(nic.name) for nic in view.network.fabric_nics}
    ports = [port for port in view.rdma.active if port.nics & adapters.keys()]
    counted = [
        *(f"{name} {said}" for name, adapter in sorted(adapters.items()) for said in _too_many(adapter)),
        *(
            f"{port.hca}:{port.number} {counter}={count}"
            for port in ports
            for counter, count in port.counters.items()
            if count > ERRORS
        ),
    ]
    claim(
        not counted,
        found="; ".join(counted),
        expected=f"at most {ERRORS} of each, or one packet in {1 / SHARE:,.0f}; {CARRIER_CHANGES} changes of carrier",
    )


def _too_many(adapter: Adapter) -> Iterator[str]:
    for counter, count in (adapter.errors or {}).items():
        if count > max(ERRORS, adapter.received * SHARE):
            yield f"{counter}={count} of {adapter.received} packets"
    if adapter.carrier_changes > CARRIER_CHANGES:
        yield f"carrier_changes={adapter.carrier_changes}"


def _mtus(pair: dict[str, NodeViews]) -> dict[str, int]:
    return {name: view.network.interface(view.node.interface).mtu for name, view in pair.items()}


def _listed(mtus: dict[str, int]) -> str:
    return ", ".join(f"{name} {mtu}" for name, mtu in mtus.items())


def _link(adapter: Adapter) -> str:
    return f"{adapter.pcie_gts or 0:g} GT/s x{adapter.pcie_lanes or 0}" if adapter.pcie_gts else "on no PCIe link"
