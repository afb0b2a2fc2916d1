"""How a command reaches a node: every transport turns a shell script into a local argument list.

An argument list is all that a caller needs: it runs it once, keeps it running, or pipes into it. No value of a
deployment file is ever parsed by a shell on the way: the script is the only text that one sees.
"""

from __future__ import annotations

import shlex
from abc import ABC, abstractmethod
from pathlib import Path

from shakedown.errors import NodeUnreachableError
from shakedown.inventory.model import Deployment, NamespaceTarget, Node
from shakedown.nodes.control import control_path

CONNECT_TIMEOUT_S = 10
"""ssh's own limit for TCP and key exchange: a live machine in a rack takes under a second."""

PERSIST_S = 60
"""How long a multiplexed connection waits for the next command; a new handshake costs about 0.4 s of processor."""

ALIVE_EVERY_S = 5
"""Seconds of silence after which ssh asks the far side for a sign of life; three without one, and it gives up.

A machine that lost its power or its cable closes no connection: without this, a kept one would be used for minutes.
"""

PROC = Path("/proc")

_LOGIN = ("PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8")


class Transport(ABC):
    """A way to run shell scripts on one node."""

    @abstractmethod
    def argv(self, script: str) -> list[str]:
        """Local argument list that runs ``script`` with ``sh`` on the node, connected to stdin, stdout and stderr.

        Raises:
            NodeUnreachableError: it is known beforehand that this cannot work.
        """

    @abstractmethod
    def __str__(self) -> str:
        """The way in words, for error messages."""


class Local(Transport):
    """This machine."""

    def __init__(self, *, sudo: bool = False) -> None:
        self._sudo = sudo

    def argv(self, script: str) -> list[str]:
        """``sh -c``, with sudo if the node asks for it."""
        return _shell(script, sudo=self._sudo)

    def __str__(self) -> str:
        return "this machine"


class Namespace(Transport):
    """A set of Linux namespaces on this machine, entered through the first process of its PID namespace."""

    def __init__(self, target: NamespaceTarget, *, sudo: bool = False) -> None:
        self._target = target
        self._sudo = sudo

    def argv(self, script: str) -> list[str]:
        """``nsenter`` into the process's namespaces, with a login's bare environment and not the caller's.

        Raises:
            NodeUnreachableError: the process is gone, or its pid belongs to another process now.
        """
        pid = self._target.pid
        started = start_time(pid)
        if started is None:
            raise NodeUnreachableError(f"{self} has ended; bring the deployment up again and use its new file")
        if started != self._target.started:
            raise NodeUnreachableError(
                f"process {pid} started at tick {started}, the deployment file means one that started at "
                f"{self._target.started}: that node has ended; bring the deployment up again and use its new file"
            )
        enter = ["nsenter", "-t", str(pid), *self._user_namespace(), "--net", "--mount", "--uts", "--ipc", "--pid"]
        return [*enter, "--", "env", "-i", *_LOGIN, f"HOME={Path.home()}", *_shell(script, sudo=self._sudo)]

    def _user_namespace(self) -> tuple[str, ...]:
        """A node made without root lives in a user namespace of its own, which is entered as the same user."""
        own, other = (_user_namespace_of(who) for who in ("self", str(self._target.pid)))
        return () if own == other else ("--user", "--preserve-credentials")

    def __str__(self) -> str:
        return f"the namespaces of process {self._target.pid}"


class OpenSSH(Transport):
    """A machine that the operator reaches with OpenSSH; aliases, keys and jump hosts come from ssh_config."""

    def __init__(self, destination: str, *, config: str | None = None, sudo: bool = False) -> None:
        if destination.startswith("-"):
            raise NodeUnreachableError(f"{destination!r} is an option of ssh, not a destination")
        self._destination = destination
        self._config = str(Path(config).expanduser()) if config else None  # no shell will expand a `~`
        self._sudo = sudo

    def argv(self, script: str) -> list[str]:
        """``ssh`` over one kept connection per destination, never asking a question."""
        options = {
            "BatchMode": "yes",
            "ConnectTimeout": str(CONNECT_TIMEOUT_S),
            "ControlMaster": "auto",
            "ControlPath": control_path(self._destination, self._config),
            "ControlPersist": str(PERSIST_S),
            "ServerAliveInterval": str(ALIVE_EVERY_S),
        }
        command = ["ssh", *(["-F", self._config] if self._config else [])]
        for key, value in options.items():
            command += ["-o", f"{key}={value}"]
        remote = shlex.join(_shell(script, sudo=self._sudo))
        return [*command, "-T", "--", self._destination, f"exec {remote}"]

    def __str__(self) -> str:
        return f"ssh {self._destination}"


class DockerExec(Transport):
    """A container on a node that is itself reached by another transport."""

    def __init__(self, machine: Transport, container: str) -> None:
        self._machine = machine
        self._container = container

    def argv(self, script: str) -> list[str]:
        """``docker exec`` on the machine."""
        return self._machine.argv(self.wrap(script))

    def wrap(self, script: str) -> str:
        """The script as one that a shell of the machine runs in the container."""
        return shlex.join(["docker", "exec", "-i", self._container, *_shell(script, sudo=False)])

    def __str__(self) -> str:
        return f"container {self._container} over {self._machine}"


def machine_transport(node: Node) -> Transport:
    """The machine itself, where NICs, memory and sockets are asked for."""
    if node.namespace:
        return Namespace(node.namespace, sudo=node.sudo)
    if node.ssh:
        return OpenSSH(node.ssh, config=node.ssh_config, sudo=node.sudo)
    return Local(sudo=node.sudo)


def transport_for(node: Node, deployment: Deployment) -> Transport:
    """Where Ray and the engine run: in the declared container, or on the machine if there is none."""
    machine = machine_transport(node)
    return DockerExec(machine, deployment.container.name) if deployment.container else machine


def start_time(pid: int) -> int | None:
    """Start of a process in clock ticks since boot (field 22 of ``/proc/PID/stat``); None if there is none."""
    try:
        text = (PROC / str(pid) / "stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    after_name = text.rpartition(")")[2].split()
    return int(after_name[19])


def _user_namespace_of(process: str) -> str | None:
    try:
        return (PROC / process / "ns" / "user").readlink().name
    except OSError:
        return None


def _shell(script: str, *, sudo: bool) -> list[str]:
    return [*(("sudo", "-n", "--") if sudo else ()), "sh", "-c", script]
