"""Listening sockets, and Ray processes wherever on the machine they run."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from shakedown.errors import EvidenceError
from shakedown.inventory.model import Deployment, Node
from shakedown.nodes.advice import AS_ROOT
from shakedown.nodes.answer import Command
from shakedown.nodes.procfs import each_process
from shakedown.nodes.views.base import View

_SOCKETS = Command("ss -H -ltnp")

ANY = frozenset({"*", "0.0.0.0", "[::]"})  # noqa: S104 - read, not bound to
"""Addresses of a socket that listens on all of the machine's."""

_RAY = Command(
    each_process(["raylet", "gcs_server"], """printf '%s %s\\n' "$pid" "$name\""""),
    key="processes named raylet or gcs_server",
)


@dataclass(frozen=True, slots=True)
class Listener:
    """A listening TCP socket.

    Attributes:
        address: local address, ``*`` for any.
        port: local port.
        owners: ``name (pid)`` of the processes that have it open; empty where this user may not know.
    """

    address: str
    port: int
    owners: tuple[str, ...]

    @property
    def families(self) -> frozenset[int]:
        """4, 6 or both: ``*`` is an IPv6 socket that takes IPv4, too."""
        if self.address == "*":
            return frozenset({4, 6})
        mapped = self.address.lower().startswith("[::ffff:")
        return frozenset({6 if ":" in self.address and not mapped else 4})

    def competes_with(self, other: Listener) -> bool:
        """Whether the kernel would share connections out between the two: same port, family and address, two owners.

        One server may well have a socket for each family, and another program may listen on another address.

        Raises:
            EvidenceError: only the owners could tell, and this user may not know them.
        """
        overlap = ANY & {self.address, other.address} or self.address == other.address
        if self.port != other.port or not overlap or not self.families & other.families:
            return False
        if not (self.owners and other.owners):
            raise EvidenceError(f"{self}, {other}: one server or two, only their owners could tell", AS_ROOT)
        return set(self.owners).isdisjoint(other.owners)

    def __str__(self) -> str:
        return f"{self.address}:{self.port} by {', '.join(self.owners) or 'a process of another user'}"


class ProcessesView(View):
    """Sockets and processes of one machine; containers with host networking are seen from here, too."""

    @classmethod
    def commands(cls, deployment: Deployment, node: Node) -> tuple[Command, ...]:  # noqa: ARG003 - same for all
        """Sockets and Ray processes."""
        return (_SOCKETS, _RAY)

    def listeners(self, port: int) -> tuple[Listener, ...]:
        """All sockets that listen on a port."""
        return tuple(listener for listener in self._listeners if listener.port == port)

    @cached_property
    def ray(self) -> tuple[str, ...]:
        """``name (pid)`` of every raylet and GCS server."""
        lines = [line.split() for line in self._text(_RAY).splitlines()]
        return tuple(f"{name} ({pid})" for pid, name in lines)

    @cached_property
    def _listeners(self) -> tuple[Listener, ...]:
        return parse_listeners(self._text(_SOCKETS))


def parse_listeners(text: str) -> tuple[Listener, ...]:
    """``ss -H -ltnp`` -> sockets; lines of another shape are none."""
    found: list[Listener] = []
    for line in text.splitlines():
        match = re.match(r"LISTEN\s+\d+\s+\d+\s+(\S+):(\d+)\s+\S+(.*)", line)
        if match:
            owners = tuple(f"{name} ({pid})" for name, pid in re.findall(r'\("([^"]*)",pid=(\d+)', match[3]))
            found.append(Listener(match[1], int(match[2]), owners))
    return tuple(found)
