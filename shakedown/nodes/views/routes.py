"""Where packets leave a node, and the kernel's settings that decide who answers for an address."""

from __future__ import annotations

import json
from dataclasses import dataclass
from ipaddress import IPv4Address

from shakedown.errors import EvidenceError
from shakedown.inventory.model import Node
from shakedown.nodes.answer import Command
from shakedown.nodes.views.links import by_device

PUBLIC = "8.8.8.8"
"""Where Ray and vLLM connect a UDP socket to find their own address; no packet is sent."""

DEFAULT_ROUTE = Command(f"ip -j -4 route get {PUBLIC}")
SETTINGS = Command(
    "cd /proc/sys/net/ipv4/conf && grep -sH . */rp_filter */arp_ignore */arp_announce */arp_filter",
    key="rp_filter and ARP settings of all NICs",
)


@dataclass(frozen=True, slots=True)
class Route:
    """Where a packet would leave.

    Attributes:
        device: the NIC.
        source: the address that a socket gets, and that Ray and vLLM take for the node's own.
        gateway: the router that it is handed to; None where the destination is in a network of the NIC.
    """

    device: str
    source: IPv4Address
    gateway: IPv4Address | None = None

    def __str__(self) -> str:
        by = f" by way of {self.gateway}" if self.gateway else ""
        return f"leaves by {self.device} as {self.source}{by}"


@dataclass(frozen=True, slots=True)
class AddressSettings:
    """The larger of a NIC's own setting and that of ``all``, which is what the kernel uses.

    Source: https://docs.kernel.org/networking/ip-sysctl.html

    Attributes:
        rp_filter: 1 drops what comes in by another NIC than the way back leaves by.
        arp_ignore: 0 answers for every address of the node on every NIC.
        arp_announce: 0 may ask with the address of another NIC.
    """

    rp_filter: int
    arp_ignore: int
    arp_announce: int

    def __str__(self) -> str:
        return f"rp_filter={self.rp_filter} arp_ignore={self.arp_ignore} arp_announce={self.arp_announce}"


def route_to(peer: Node) -> Command:
    """Where a socket to a peer's fabric address would send."""
    return Command(f"ip -j -4 route get {peer.fabric_address}")


def parse_route(text: str) -> Route:
    """``ip -j -4 route get ADDRESS`` -> route.

    Raises:
        EvidenceError: it is something else.
    """
    try:
        (route,) = json.loads(text)
        gateway = IPv4Address(route["gateway"]) if "gateway" in route else None
        return Route(route["dev"], IPv4Address(route["prefsrc"]), gateway)
    except (ValueError, KeyError, TypeError) as error:
        raise EvidenceError(f"not the output of `ip -j route get`: {error!r} in {text[:80]!r}") from error


def parse_settings(text: str) -> dict[str, AddressSettings]:
    """Lines ``NIC/SETTING:NUMBER`` -> what the kernel uses for every NIC.

    Raises:
        EvidenceError: there is no ``all``, so it is something else.
    """
    files = by_device(text)
    if "all" not in files:
        raise EvidenceError(f"no settings of IPv4: {text[:80]!r}")

    def used(nic: str, name: str) -> int:
        return max(int(files[one].get(name, 0)) for one in ("all", nic))

    return {
        nic: AddressSettings(used(nic, "rp_filter"), used(nic, "arp_ignore"), used(nic, "arp_announce"))
        for nic in files
        if nic not in ("all", "default")
    }
