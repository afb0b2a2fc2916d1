"""NICs: state, addresses, and what sysfs counts and knows of the adapter behind each."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Interface
from typing import Any

from shakedown.errors import EvidenceError
from shakedown.nodes.answer import Command

ADDRESSES = Command("ip -j addr show")
ADAPTERS = Command(
    """\
cd /sys/class/net || exit 1
grep -sH . */carrier_changes */device/current_link_speed */device/current_link_width \\
    */statistics/rx_packets */statistics/rx_errors */statistics/tx_errors */statistics/rx_crc_errors
for wireless in */phy80211 */wireless; do [ ! -e "$wireless" ] || echo "$wireless:yes"; done
true""",
    key="adapters in /sys/class/net",
)

ERROR_COUNTERS = ("statistics/rx_errors", "statistics/tx_errors", "statistics/rx_crc_errors")


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
        lent: those of them that a DHCP server has given for a while.
    """

    name: str
    operstate: str
    carrier: bool
    mtu: int
    mac: str
    addresses: tuple[IPv4Interface, ...]
    lent: frozenset[IPv4Address] = frozenset()

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
class Adapter:
    """What sysfs tells of the hardware of a NIC.

    Attributes:
        pcie_gts: speed of its PCIe link, GT/s; None where it is on none (veth, bridge).
        pcie_lanes: width of that link; None as above.
        wireless: it is a Wi-Fi.
        carrier_changes: how often its signal came or went since it was made.
        received: packets since it was made.
        errors: counters of `ERROR_COUNTERS` since it was made.
    """

    pcie_gts: float | None = None
    pcie_lanes: int | None = None
    wireless: bool = False
    carrier_changes: int = 0
    received: int = 0
    errors: Mapping[str, int] | None = None


def parse_addresses(text: str) -> dict[str, Interface]:
    """``ip -j addr show`` -> NICs by name.

    Raises:
        EvidenceError: it is something else.
    """
    try:
        return {nic.name: nic for nic in (_interface(link) for link in json.loads(text) if link)}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise EvidenceError(f"not the output of `ip -j addr show`: {error!r} in {text[:80]!r}") from error


def _interface(link: dict[str, Any]) -> Interface:
    infos = [info for info in link.get("addr_info", []) if info.get("family") == "inet"]
    return Interface(
        name=str(link["ifname"]),
        operstate=str(link.get("operstate", "unknown")).lower(),
        carrier="LOWER_UP" in link.get("flags", []),
        mtu=int(link["mtu"]),
        mac=str(link.get("address", "")).lower(),
        addresses=tuple(IPv4Interface(f"{info['local']}/{info['prefixlen']}") for info in infos),
        lent=frozenset(IPv4Address(info["local"]) for info in infos if info.get("dynamic")),
    )


def parse_adapters(text: str) -> dict[str, Adapter]:
    """Lines ``NIC/FILE:CONTENT`` of sysfs -> adapters by NIC."""
    files = by_device(text)
    return {nic: _adapter(content) for nic, content in files.items()}


def _adapter(files: Mapping[str, str]) -> Adapter:
    speed = re.match(r"[\d.]+", files.get("device/current_link_speed", ""))
    return Adapter(
        pcie_gts=float(speed.group()) if speed else None,
        pcie_lanes=_count(files.get("device/current_link_width")) or None,
        wireless="phy80211" in files or "wireless" in files,
        carrier_changes=_count(files.get("carrier_changes")),
        received=_count(files.get("statistics/rx_packets")),
        errors={name: _count(files[name]) for name in ERROR_COUNTERS if name in files},
    )


def _count(text: str | None) -> int:
    return int(text) if text and text.strip().isdecimal() else 0


def by_device(text: str) -> dict[str, dict[str, str]]:
    """Lines ``DEVICE/FILE:CONTENT``, as ``grep -H .`` prints files of sysfs -> content by file by device."""
    found: dict[str, dict[str, str]] = defaultdict(dict)
    for line in text.splitlines():
        path, colon, content = line.partition(":")
        device, slash, file = path.partition("/")
        if colon and slash:
            found[device][file] = content.strip()
    return dict(found)
