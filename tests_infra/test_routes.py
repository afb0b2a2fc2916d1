"""Subnets and routes: where packets for the peers leave, what by itself would be taken, and who may drop them."""

from __future__ import annotations

import pytest

from fixtures.claim import Claim
from shakedown.errors import EvidenceError
from shakedown.inventory.model import Deployment, Node
from shakedown.nodes.firewall.packet import Packet
from shakedown.nodes.views.firewall import keeps_out
from shakedown.nodes.views.node import NodeViews

pytestmark = pytest.mark.infra

ALWAYS = ("hosts", "ray", "serving")


@pytest.mark.check("NET-15", stages=ALWAYS)
def test_default_route_is_on_a_declared_network(view: NodeViews, deployment: Deployment, claim: Claim) -> None:
    """What a node would take for its own address by itself lies in a network that the deployment file names."""
    route = view.network.default_route
    known = route is None or deployment.fabric.holds(route.source) or deployment.management.holds(route.source)
    kind = " (Wi-Fi)" if route and view.network.adapter(route.device).wireless else ""
    claim(
        known,
        found=f"the default route {route}{kind}" if route else "no default route",
        expected="no default route, or one in a subnet of [fabric] or [management]",
    )


@pytest.mark.check("NET-16", stages=ALWAYS, needs=("NET-01", "NET-05"))
def test_traffic_to_the_peers_leaves_by_the_fabric(
    view: NodeViews, node: Node, deployment: Deployment, claim: Claim
) -> None:
    """A socket to the fabric address of a peer sends by a fabric NIC, from a fabric address."""
    nics = {nic.name for nic in view.network.fabric_nics}
    wrong = []
    for peer in deployment.peers(node):
        route = view.network.route_to(peer)
        if route is None or route.device not in nics or not deployment.fabric.holds(route.source):
            wrong.append(f"what is sent to {peer.fabric_address} {route or 'has no route'}")
    claim(not wrong, found="; ".join(wrong), expected=f"by {node.interface} as {node.fabric_address}")


@pytest.mark.check("NET-04", stages=ALWAYS, needs=("NET-05",))
def test_every_rdma_nic_has_a_subnet_of_its_own(view: NodeViews, claim: Claim) -> None:
    """No subnet of a NIC with RDMA overlaps one of any other NIC of the node, its twin and bridges included."""
    names = {name for port in view.rdma.active for name in port.nics}
    if not names:
        pytest.skip("no active RDMA device on this node: over TCP two NICs in one subnet get along")
    nics = view.network.interfaces.values()
    shared = [
        f"{one.name} {address} and {other.name} {neighbour}"
        for one in nics
        for other in nics
        if one.name in names and other.name != one.name
        for address in one.addresses
        for neighbour in other.addresses
        if address.network.overlaps(neighbour.network)
    ]
    settings = view.network.address_settings
    told = ", ".join(f"{name}: {settings[name]}" for name in sorted(names) if name in settings)
    claim(not shared, found=f"{'; '.join(shared)} ({told})", expected="a subnet for each NIC")


@pytest.mark.check("RAY-09", stages=ALWAYS, severity="warning")
def test_no_firewall_keeps_the_peers_out(view: NodeViews, node: Node, deployment: Deployment, claim: Claim) -> None:
    """No rule of the firewall drops what begins a connection from a peer over the fabric, to whatever port."""
    fates = {
        other.name: keeps_out(view.firewall.rules, Packet(other.fabric_address, node.fabric_address, node.interface))
        for other in deployment.peers(node)
    }
    dropped = [f"from {name}: {rule}" for name, fate in fates.items() for rule in fate.dropped]
    doubtful = [f"from {name}: {rule}" for name, fate in fates.items() for rule in fate.doubtful]
    if doubtful and not dropped:
        raise EvidenceError(
            f"whether these rules keep the peers out cannot be told from their text: {'; '.join(doubtful)}",
            "try the ports themselves with `--tier 1`",
        )
    claim(
        not dropped,
        found="; ".join(dropped),
        expected=f"everything let in that comes by {node.interface} from {', '.join(fates)}",
    )
