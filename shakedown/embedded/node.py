"""A running node as its maker sees it: commands enter its namespaces, files are read through its first process."""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from shakedown.embedded.network import NodePlan
from shakedown.embedded.processes import PROC, Process, find
from shakedown.errors import LaunchError
from shakedown.inventory.model import NamespaceTarget
from shakedown.nodes.transport import Namespace

OWN = Path("/run/shakedown")
PYTHON = OWN / "engine/bin/python"
MODEL = OWN / "model"
LOGS = Path("/var/log/shakedown")


@dataclass(frozen=True, slots=True)
class RunningNode:
    """One node.

    Attributes:
        plan: what it was made from.
        process: its first process, as this machine counts it.
    """

    plan: NodePlan
    process: Process

    @property
    def name(self) -> str:
        """Its host name."""
        return self.plan.name

    def file(self, path: Path) -> Path:
        """Where this machine sees a file of the node."""
        return PROC / str(self.process.pid) / "root" / path.relative_to("/")

    @property
    def proc(self) -> Path:
        """The node's own ``/proc``."""
        return self.file(PROC)

    @property
    def fabric_is_up(self) -> bool:
        """Whether the kernel has told of the cable of its fabric NIC."""
        return self.file(Path("/sys/class/net", self.plan.fabric_nic, "operstate")).read_text().strip() == "up"

    def listens(self, port: int) -> bool:
        """True if something on the node listens on a TCP port."""
        wanted = f":{port:04X}"
        for table in ("tcp", "tcp6"):
            path = PROC / str(self.process.pid) / "net" / table
            for line in path.read_text().splitlines()[1:] if path.exists() else ():
                fields = line.split()
                if fields[1].endswith(wanted) and fields[3] == "0A":
                    return True
        return False

    def enter(self, argv: Sequence[str], environment: Mapping[str, str]) -> list[str]:
        """The command that runs ``argv`` on the node with that environment and no other variable.

        Raises:
            NodeUnreachableError: the node is gone.
        """
        settings = [f"{key}={value}" for key, value in environment.items()]
        target = NamespaceTarget(pid=self.process.pid, started=self.process.started)
        return Namespace(target).argv(f"exec {shlex.join(['env', '-i', *settings, *argv])}")

    def popen(self, argv: Sequence[str], environment: Mapping[str, str]) -> subprocess.Popen[str]:
        """Start a command whose output (stderr with it) is awaited."""
        return subprocess.Popen(
            self.enter(argv, environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def daemon(self, argv: Sequence[str], environment: Mapping[str, str], log: Path) -> Process:
        """Start a process that stays, its output in a file of the node.

        Returns:
            The process as the node's PID namespace counts it.
        """
        script = f"setsid {shlex.join(argv)} > {shlex.quote(str(log))} 2>&1 < /dev/null & echo $!"
        answer = subprocess.run(
            self.enter(["sh", "-c", script], environment), capture_output=True, text=True, check=False
        )
        process = find(int(answer.stdout), self.proc) if answer.returncode == 0 else None
        if process is None:
            raise LaunchError(f"{argv[0]} did not start on {self.name}: {answer.stderr.strip() or 'it ended at once'}")
        return process

    def clear(self) -> None:
        """End everything on the node but its first process; nothing where the node is gone."""
        if self.process.alive():
            subprocess.run(self.enter(["sh", "-c", "kill -9 -1"], base_environment()), capture_output=True, check=False)

    def kill_group(self, leader: Process) -> None:
        """End a daemon and the processes it started; ``leader`` is as the node counts it.

        Its group may outlive it, and keeps its number from being given away; where another process has the number,
        nothing is left of the group and nothing is ended.
        """
        if self.process.alive() and find(leader.pid, self.proc) in (leader, None):
            argv = ["sh", "-c", f"kill -9 -{leader.pid}"]
            subprocess.run(self.enter(argv, base_environment()), capture_output=True, check=False)


def base_environment() -> dict[str, str]:
    """What every process of a node starts with."""
    return {
        "PATH": f"{PYTHON.parent}:{os.defpath}:/usr/sbin:/sbin",
        "HOME": str(OWN / "home"),
        "LANG": "C.UTF-8",
    }
