"""The ways between two nodes: one for each pair of fabric NICs in one subnet; one port of a machine may be two."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import IPv4Address

from shakedown.inventory.model import Deployment, Node
from shakedown.nodes.views.node import NodeViews


@dataclass(frozen=True, slots=True)
class End:
    """One end of a lane.

    Attributes:
        node: where it is.
        nic: the NIC.
        address: of the NIC, in the lane's subnet.
        hca: the RDMA device of the NIC; None without one that is active.
        gid: index of the address in the device's table; None as above.
    """

    node: Node
    nic: str
    address: IPv4Address
    hca: str | None = None
    gid: int | None = None


@dataclass(frozen=True, slots=True)
class Lane:
    """From the head to a worker and back."""

    head: End
    worker: End

    @property
    def ends(self) -> tuple[tuple[End, End], tuple[End, End]]:
        """Both directions, as (from, to)."""
        return (self.head, self.worker), (self.worker, self.head)

    def __str__(self) -> str:
        return f"{self.worker.node.name} by {self.head.nic}"


def lanes(views: Mapping[str, NodeViews], deployment: Deployment) -> tuple[Lane, ...]:
    """All of them that see a signal at both ends."""
    head = views[deployment.head.name]
    found = []
    for worker in (views[node.name] for node in deployment.workers):
        for nic in head.network.fabric_nics:
            for other in worker.network.fabric_nics:
                for own in nic.addresses if nic.carrier and other.carrier else ():
                    near = (far.ip for far in other.addresses if far.ip in own.network and far.ip != own.ip)
                    found += [Lane(_end(head, nic.name, own.ip), _end(worker, other.name, far)) for far in near]
    return tuple(found)


def _end(view: NodeViews, nic: str, address: IPv4Address) -> End:
    for port in view.rdma.active:
        for gid in port.gids:
            if gid.ipv4 == address:
                return End(view.node, nic, address, port.hca, gid.index)
    return End(view.node, nic, address)
