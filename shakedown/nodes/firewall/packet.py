"""The packet that is followed: the first of a TCP connection from a peer to a port that nobody chose."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from ipaddress import IPv4Address, IPv4Network, summarize_address_range

from shakedown.nodes.firewall.chains import Fits

PORTS = range(32768, 61000)
"""One of these, from one of these: Linux's own range for ports that nobody asked for by number; see ip(7)."""

LENGTH = 60
"""Bytes of such a packet: headers of IP and TCP with the usual options. See tcp(7)."""

_PROTOCOLS = {"tcp", "6", "all", "ip", "ipv4", "0x0800"}


@dataclass(frozen=True, slots=True)
class Packet:
    """Where it comes from and goes to.

    Attributes:
        source: address of the peer.
        target: address of this node.
        nic: by which it comes in.
    """

    source: IPv4Address
    target: IPv4Address
    nic: str

    def by_nic(self, name: str) -> Fits:
        """Whether a name, which may end in ``*`` or ``+``, is that of the NIC."""
        return fnmatchcase(self.nic, name.replace("+", "*"))

    def from_address(self, text: str) -> Fits:
        """Whether an address, a network or a range holds the source."""
        return _holds(text, self.source)

    def to_address(self, text: str) -> Fits:
        """Whether it holds the target."""
        return _holds(text, self.target)

    def port(self, text: str) -> Fits:
        """Whether a port or a range is the packet's: all ports that it may have, none of them, or not to be told.

        A single port that somebody named is none of them, though it might be by chance.
        """
        low, high = _range(text)
        if low is None or high is None:
            return None
        if low <= PORTS.start and high >= PORTS.stop - 1:
            return True
        return False if high < PORTS.start or low >= PORTS.stop or high == low else None

    def protocol(self, text: str) -> Fits:
        """Whether it is the packet's."""
        return text.lower() in _PROTOCOLS

    def state(self, text: str) -> Fits:
        """Whether a state of connection tracking is the packet's: it begins a connection."""
        return None if text.lower() == "untracked" else text.lower() == "new"

    def length(self, text: str) -> Fits:
        """Whether a length or a range of lengths is the packet's."""
        low, high = _range(text)
        return None if low is None or high is None else low <= LENGTH <= high


def _range(text: str) -> tuple[int | None, int | None]:
    """``7``, ``7-9``, ``7:9``, ``7:`` -> first and last."""
    first, dash, last = text.replace(":", "-").partition("-")
    low, high = first or "0", last or ("65535" if dash else first)
    return int(low) if low.isdecimal() else None, int(high) if high.isdecimal() else None


def _holds(text: str, address: IPv4Address) -> Fits:
    first, dash, last = text.partition("-")
    try:
        if dash:
            return any(address in part for part in summarize_address_range(IPv4Address(first), IPv4Address(last)))
        return address in IPv4Network(text, strict=False)
    except ValueError:
        return None
