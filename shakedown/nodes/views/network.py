"""The network of one node: NICs, addresses, routes, and what comes back from the peers."""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import dataclass
from functools import cached_property
from ipaddress import IPv4Address

from testinfra.backend.base import CommandResult

from shakedown.errors import EvidenceError
from shakedown.inventory.model import Deployment, Node
from shakedown.nodes.answer import Command
from shakedown.nodes.views import links, routes
from shakedown.nodes.views.base import View
from shakedown.nodes.views.links import Adapter, Interface
from shakedown.nodes.views.routes import AddressSettings, Route

__all__ = ["Echo", "Interface", "NetworkView", "parse_echo", "parse_neighbour"]

ICMP_AND_IP_HEADER = 28
"""Bytes of an IPv4 echo that are no payload: 20 of IP, 8 of ICMP."""


@dataclass(frozen=True, slots=True)
class Echo:
    """A ping from one node to another, bound to the fabric NIC.

    Attributes:
        received: whether any answer came.
        size: bytes of the IP packet.
        said: the line that tells why not.
    """

    received: bool
    size: int
    said: str


class NetworkView(View):
    """The network of one node."""

    @classmethod
    def commands(cls, deployment: Deployment, node: Node) -> tuple[Command, ...]:
        """Reading, and echoes to the declared peers."""
        asked = []
        for peer in deployment.node:
            if peer.name != node.name:
                asked += [_small_echo(node, peer), _full_echo(node, peer), _neighbour(node, peer)]
                asked += [routes.route_to(peer)]
        reading = (links.ADDRESSES, links.ADAPTERS, routes.DEFAULT_ROUTE, routes.SETTINGS, _speed(node))
        return (*reading, *asked)

    @cached_property
    def interfaces(self) -> dict[str, Interface]:
        """All NICs by name."""
        return links.parse_addresses(self._text(links.ADDRESSES))

    def interface(self, name: str) -> Interface:
        """The NIC of that name; one that is not there has operstate ``absent``."""
        return self.interfaces.get(name) or Interface(name, "absent", carrier=False, mtu=0, mac="", addresses=())

    def owner(self, address: IPv4Address) -> Interface | None:
        """The NIC to which an address is assigned, if any."""
        return next((nic for nic in self.interfaces.values() if nic.holds(address)), None)

    @property
    def fabric_nics(self) -> tuple[Interface, ...]:
        """The declared fabric NIC, and every other one with an address in a fabric subnet."""
        fabric = self._deployment.fabric
        return tuple(
            nic
            for nic in self.interfaces.values()
            if nic.name == self._node.interface or any(fabric.holds(address.ip) for address in nic.addresses)
        )

    @property
    def hardware_addresses(self) -> frozenset[str]:
        """Those of all NICs of the node, lower case."""
        return frozenset(nic.mac for nic in self.interfaces.values() if nic.mac)

    @cached_property
    def _adapters(self) -> dict[str, Adapter]:
        return links.parse_adapters(self._text(links.ADAPTERS))

    def adapter(self, nic: str) -> Adapter:
        """What sysfs tells of the hardware of a NIC."""
        return self._adapters.get(nic, Adapter())

    @cached_property
    def address_settings(self) -> dict[str, AddressSettings]:
        """What the kernel does with foreign ways and ARP, by NIC."""
        return routes.parse_settings(self._text(routes.SETTINGS))

    @cached_property
    def default_route(self) -> Route | None:
        """What Ray and vLLM would take for this node's own address if nothing told them; None without a route."""
        return self._route(routes.DEFAULT_ROUTE)

    def route_to(self, peer: Node) -> Route | None:
        """Where a socket to a peer's fabric address would send; None without a route."""
        return self._route(routes.route_to(peer))

    @cached_property
    def fabric_speed_mbps(self) -> int | None:
        """Speed of the fabric NIC in Mb/s as sysfs gives it; None where the driver does not tell."""
        text = self._result(_speed(self._node)).stdout.strip()
        return int(text) if re.fullmatch(r"[1-9]\d*", text) else None

    def echo(self, peer: Node) -> Echo:
        """A small ping to a peer."""
        return self._echo(_small_echo(self._node, peer))

    def full_echo(self, peer: Node) -> Echo:
        """A ping to a peer that fills this NIC's MTU and must not be fragmented."""
        return self._echo(_full_echo(self._node, peer))

    def neighbour(self, peer: Node) -> str | None:
        """Hardware address that answers for a peer's fabric address, lower case; None if nobody does."""
        return parse_neighbour(self._text(_neighbour(self._node, peer)))

    def _route(self, command: Command) -> Route | None:
        result: CommandResult = self._result(command)
        if result.rc == 2 and "unreachable" in result.stderr:
            return None
        return routes.parse_route(self._text(command))

    def _echo(self, command: Command) -> Echo:
        result = self._result(command)
        if result.rc in (126, 127) or "not permitted" in result.stderr:
            raise EvidenceError(f"ping cannot run on {self._node.name}: {result.stderr.strip()}")
        return parse_echo(result.stdout, result.stderr)


def _speed(node: Node) -> Command:
    return Command(f"cat /sys/class/net/{shlex.quote(node.interface)}/speed")


def _small_echo(node: Node, peer: Node) -> Command:
    text = f"ping -n -c 2 -i 0.2 -W 1 -I {shlex.quote(node.interface)} {peer.fabric_address}"
    return Command(text, row=_row(peer))


def _full_echo(node: Node, peer: Node) -> Command:
    nic = shlex.quote(node.interface)
    size = f"$(($(cat /sys/class/net/{nic}/mtu) - {ICMP_AND_IP_HEADER}))"
    return Command(f"ping -n -c 2 -i 0.2 -W 1 -M do -s {size} -I {nic} {peer.fabric_address}", row=_row(peer))


def _neighbour(node: Node, peer: Node) -> Command:
    return Command(f"ip -j neigh show to {peer.fabric_address} dev {shlex.quote(node.interface)}", row=_row(peer))


def _row(peer: Node) -> str:
    """Echoes wait, so each peer has a row; who answers for its address is known after them."""
    return f"echoes to {peer.name}"


def parse_neighbour(text: str) -> str | None:
    """``ip -j neigh show`` for one address -> hardware address of the entry that is in use, if any.

    Raises:
        EvidenceError: it is something else.
    """
    try:
        entries = [entry["lladdr"].lower() for entry in json.loads(text or "[]") if entry.get("lladdr")]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise EvidenceError(f"not the output of `ip -j neigh show`: {error!r} in {text[:80]!r}") from error
    return entries[0] if entries else None


def parse_echo(stdout: str, stderr: str) -> Echo:
    """``ping`` -> whether anything came back, and what it said where nothing did.

    Raises:
        EvidenceError: it printed neither a count nor an error of its own.
    """
    size = re.search(r"^PING .*?\b\d+\((\d+)\) bytes of data", stdout, re.MULTILINE)
    counts = re.search(r"(\d+) packets transmitted, (\d+) received", stdout)
    complaint = (stderr.strip() or _reason(stdout)).splitlines()
    if counts:
        said = complaint[0] if complaint else counts.group(0)
        return Echo(int(counts.group(2)) > 0, int(size.group(1)) if size else 0, said)
    if not complaint:
        raise EvidenceError(f"not the output of ping: {stdout[:80]!r}")
    return Echo(received=False, size=0, said=complaint[0])


def _reason(stdout: str) -> str:
    lines = [line for line in stdout.splitlines() if line.startswith(("From ", "ping:"))]
    return lines[0] if lines else ""
