"""NICs, addresses, routes, and whether the peers answer over the fabric."""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import dataclass
from functools import cached_property
from ipaddress import IPv4Address, IPv4Interface
from typing import Any

from shakedown.errors import EvidenceError
from shakedown.inventory.model import Deployment, Node
from shakedown.nodes.answer import Command
from shakedown.nodes.views.base import View

ICMP_AND_IP_HEADER = 28
"""Bytes of an IPv4 echo that are no payload: 20 of IP, 8 of ICMP."""

PUBLIC = "8.8.8.8"
"""Where Ray and vLLM connect a UDP socket to find their own address; no packet is sent."""

_ADDRESSES = Command("ip -j addr show")
_ROUTE = Command(f"ip -j -4 route get {PUBLIC}")


@dataclass(frozen=True, slots=True)
class Interface:
    """One NIC.

    Attributes:
        name: as the kernel calls it.
        operstate: ``up``, ``down``, ``lowerlayerdown``, ``unknown`` (drivers that do not tell), or ``absent``.
        carrier: a signal is there.
        mtu: bytes.
        mac: hardware address, lower case; empty where there is none.
        addresses: IPv4, with prefix.
    """

    name: str
    operstate: str
    carrier: bool
    mtu: int
    mac: str
    addresses: tuple[IPv4Interface, ...]

    @property
    def is_up(self) -> bool:
        """The kernel would send through it."""
        return self.operstate == "up" or (self.operstate == "unknown" and self.carrier)

    def holds(self, address: IPv4Address) -> bool:
        """Whether the address is assigned to it."""
        return any(own.ip == address for own in self.addresses)

    def __str__(self) -> str:
        addresses = ", ".join(str(address) for address in self.addresses) or "no IPv4 address"
        carrier = "carrier" if self.carrier else "no carrier"
        return f"{self.name} is {self.operstate}, {carrier}, mtu {self.mtu}, {addresses}"


@dataclass(frozen=True, slots=True)
class Route:
    """Where a packet to the outside would leave.

    Attributes:
        device: the NIC.
        source: the address that a socket gets, and that Ray and vLLM take for the node's own.
    """

    device: str
    source: IPv4Address


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
        echoes = []
        for peer in deployment.node:
            if peer.name != node.name:
                echoes += [_small_echo(node, peer), _full_echo(node, peer), _neighbour(node, peer)]
        return (_ADDRESSES, _ROUTE, _speed(node), *echoes)

    @cached_property
    def interfaces(self) -> dict[str, Interface]:
        """All NICs by name."""
        return parse_addresses(self._text(_ADDRESSES))

    def interface(self, name: str) -> Interface:
        """The NIC of that name; one that is not there has operstate ``absent``."""
        return self.interfaces.get(name) or Interface(name, "absent", carrier=False, mtu=0, mac="", addresses=())

    def owner(self, address: IPv4Address) -> Interface | None:
        """The NIC to which an address is assigned, if any."""
        return next((nic for nic in self.interfaces.values() if nic.holds(address)), None)

    @property
    def hardware_addresses(self) -> frozenset[str]:
        """Those of all NICs of the node, lower case."""
        return frozenset(nic.mac for nic in self.interfaces.values() if nic.mac)

    @cached_property
    def default_route(self) -> Route | None:
        """What Ray and vLLM would take for this node's own address if nothing told them; None without a route."""
        result = self._result(_ROUTE)
        if result.rc == 2 and "unreachable" in result.stderr:
            return None
        return parse_route(self._text(_ROUTE))

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

    def _echo(self, command: Command) -> Echo:
        result = self._result(command)
        if result.rc in (126, 127) or "not permitted" in result.stderr:
            raise EvidenceError(f"ping cannot run on {self._node.name}: {result.stderr.strip()}")
        return parse_echo(result.stdout, result.stderr)


def _speed(node: Node) -> Command:
    return Command(f"cat /sys/class/net/{shlex.quote(node.interface)}/speed")


def _small_echo(node: Node, peer: Node) -> Command:
    return Command(f"ping -n -c 2 -i 0.2 -W 1 -I {shlex.quote(node.interface)} {peer.fabric_address}")


def _full_echo(node: Node, peer: Node) -> Command:
    nic = shlex.quote(node.interface)
    size = f"$(($(cat /sys/class/net/{nic}/mtu) - {ICMP_AND_IP_HEADER}))"
    return Command(f"ping -n -c 2 -i 0.2 -W 1 -M do -s {size} -I {nic} {peer.fabric_address}")


def _neighbour(node: Node, peer: Node) -> Command:
    return Command(f"ip -j neigh show to {peer.fabric_address} dev {shlex.quote(node.interface)}")


def parse_addresses(text: str) -> dict[str, Interface]:
    """``ip -j addr show`` -> NICs by name.

    Raises:
        EvidenceError: it is something else.
    """
    try:
        return {link["ifname"]: _interface(link) for link in json.loads(text) if link}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise EvidenceError(f"not the output of `ip -j addr show`: {error!r} in {text[:80]!r}") from error


def _interface(link: dict[str, Any]) -> Interface:
    infos = link.get("addr_info", [])
    return Interface(
        name=str(link["ifname"]),
        operstate=str(link.get("operstate", "unknown")).lower(),
        carrier="LOWER_UP" in link.get("flags", []),
        mtu=int(link["mtu"]),
        mac=str(link.get("address", "")).lower(),
        addresses=tuple(
            IPv4Interface(f"{info['local']}/{info['prefixlen']}") for info in infos if info.get("family") == "inet"
        ),
    )


def parse_route(text: str) -> Route:
    """``ip -j -4 route get ADDRESS`` -> route.

    Raises:
        EvidenceError: it is something else.
    """
    try:
        (route,) = json.loads(text)
        return Route(route["dev"], IPv4Address(route["prefsrc"]))
    except (ValueError, KeyError, TypeError) as error:
        raise EvidenceError(f"not the output of `ip -j route get`: {error!r} in {text[:80]!r}") from error


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
