"""Listening sockets, and Ray processes wherever on the machine they run."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from shakedown.inventory.model import Deployment, Node
from shakedown.nodes.answer import Command
from shakedown.nodes.procfs import each_process
from shakedown.nodes.views.base import View

_SOCKETS = Command("ss -H -ltnp")

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
