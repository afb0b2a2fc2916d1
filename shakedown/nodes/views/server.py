"""The API server that runs on the head: its command line and its environment."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from shakedown.engines.vllm.arguments import ServeCommand, parse_arguments
from shakedown.errors import EvidenceError
from shakedown.inventory.model import Deployment, Node
from shakedown.nodes.answer import Command, Place
from shakedown.nodes.procfs import each_process
from shakedown.nodes.views.base import View
from shakedown.nodes.views.raylet import KEPT_VARIABLES

_INTERPRETERS = ("vllm", "python", *(f"python3{minor}" for minor in ("", *(f".{number}" for number in range(9, 16)))))
_SECRET = "--api[-_]key|--hf[-_]token|--ssl[-_]keyfile[-_]password"  # noqa: S105 - names of options

_SERVER = Command(
    each_process(
        _INTERPRETERS,
        rf"""
    tr '\0' '\n' <"$process/cmdline" | grep -qxE '(.*/)?vllm|vllm\.entrypoints\..*' || continue
    printf 'pid %s\n' "$pid"
    tr '\0' '\n' <"$process/cmdline" | while IFS= read -r argument; do
        case $argument in {_SECRET}) secret=1 ;; -*) secret= ;; esac
        [ "$secret" ] || printf 'arg %s\n' "$argument"
    done
    tr '\0' '\n' <"$process/environ" | grep -E '^({KEPT_VARIABLES})' | sed 's/^/env /'
    [ -r "$process/environ" ] || echo 'denied environ'
    """,
    )
    + "true\n",
    Place.ENGINE,
    key="API server: arguments, environment",
)


@dataclass(frozen=True, slots=True)
class Server:
    """A running API server.

    Attributes:
        pid: on the node.
        command: its command line; values of options that are secret never leave the node.
        environment: what it was started with, as far as `KEPT_VARIABLES` goes; None if this user may not read it.
    """

    pid: int
    command: ServeCommand
    environment: Mapping[str, str] | None


class ServerView(View):
    """The served engine's first process. It runs on the head, and only the head is asked."""

    @classmethod
    def commands(cls, deployment: Deployment, node: Node) -> tuple[Command, ...]:  # noqa: ARG003 - same for all
        """One, on the head."""
        return (_SERVER,) if node.role == "head" else ()

    @cached_property
    def servers(self) -> tuple[Server, ...]:
        """Every API server that runs there, the processes that it makes for itself not counted."""
        return parse_servers(self._text(_SERVER)) if self._node.role == "head" else ()

    @property
    def server(self) -> Server:
        """The one API server.

        Raises:
            EvidenceError: none runs, or several.
        """
        if len(self.servers) != 1:
            pids = ", ".join(str(server.pid) for server in self.servers) or "none"
            raise EvidenceError(f"one API server should run on {self._node.name}; running: {pids}")
        return self.servers[0]


def parse_servers(text: str) -> tuple[Server, ...]:
    """Lines ``pid N``, ``arg TEXT``, ``env NAME=VALUE``, ``denied environ`` -> servers."""
    servers: list[Server] = []
    for block in re.split(r"^pid (?=\d+$)", text, flags=re.MULTILINE)[1:]:
        pid, *lines = block.splitlines()
        command = parse_arguments([line[4:] for line in lines if line.startswith("arg ")])
        variables = dict(line[4:].partition("=")[::2] for line in lines if line.startswith("env "))
        if command:
            servers.append(Server(int(pid), command, None if "denied environ" in lines else variables))
    return tuple(servers)
