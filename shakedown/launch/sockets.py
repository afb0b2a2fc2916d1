"""Sockets that wait for an answer, as evidence of ranks that look for each other at the wrong place."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from ipaddress import IPv4Address

_PAIR = re.compile(
    r"\[?(?:::ffff:)?(\d{1,3}(?:\.\d{1,3}){3})\]?(?:%\S+?)?:(\d+)\s+\[?(?:::ffff:)?(\d{1,3}(?:\.\d{1,3}){3})\]?:(\d+)(.*)"
)
_HEX = re.compile(r"hex ([0-9A-F]+):([0-9A-F]{4}) ([0-9A-F]+):([0-9A-F]{4})$", re.IGNORECASE)
_OWNER = re.compile(r'\("([^"]*)",pid=(\d+)')
_IPV4_DIGITS = 8


@dataclass(frozen=True, slots=True)
class Waiting:
    """A connection that was asked for and not answered (SYN-SENT).

    Attributes:
        node: where it is.
        local: own address.
        peer: the address that does not answer.
        port: of the peer.
        owner: ``name (pid)``; "" where this user may not know.
    """

    node: str
    local: IPv4Address
    peer: IPv4Address
    port: int
    owner: str = ""

    def __str__(self) -> str:
        who = f" by {self.owner}" if self.owner else ""
        return f"SYN-SENT {self.local} -> {self.peer}:{self.port}{who}"


def waiting(node: str, lines: Iterable[str]) -> Iterator[Waiting]:
    """Lines of ``ss -Htnp state syn-sent``, or ``hex LOCAL PEER`` of ``/proc/net/tcp``; others are none."""
    for line in lines:
        try:
            found = _of_hex(node, line) or _of_ss(node, line)
        except ValueError:  # no address, whatever it looks like
            continue
        if found is not None:
            yield found


def _of_ss(node: str, line: str) -> Waiting | None:
    match = _PAIR.search(line)
    if match is None:
        return None
    owner = _OWNER.search(match[5])
    name = f"{owner[1]} ({owner[2]})" if owner else ""
    return Waiting(node, IPv4Address(match[1]), IPv4Address(match[3]), int(match[4]), name)


def _of_hex(node: str, line: str) -> Waiting | None:
    match = _HEX.match(line.strip())
    return Waiting(node, _address(match[1]), _address(match[3]), int(match[4], 16)) if match else None


def _address(digits: str) -> IPv4Address:
    """The kernel prints four bytes as a number of the machine's order; an IPv6 socket has the IPv4 address last."""
    return IPv4Address(bytes.fromhex(digits[-_IPV4_DIGITS:])[::-1])
