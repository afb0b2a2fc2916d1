"""First process of a deployment's outer namespace: makes the nodes, forwards to the API, and takes all down with it.

Started by `up` through ``unshare``; uses the standard library only, so that it is up in a moment. Whoever kills it
ends every process, link and mount of the deployment, since all of them live in its namespaces.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
from pathlib import Path

from shakedown.embedded import network
from shakedown.embedded.forwarder import forward

HERE = Path(__file__).parent
PLAN = "plan.json"
KEEP = b"keep"


def make_nodes(plan: network.Plan) -> dict[str, int]:
    """Make the bridge, the nodes and their cables.

    Returns:
        First process of each node, as this PID namespace counts it.
    """
    _ip(network.hub_commands())
    Path("/proc/sys/net/ipv4/ip_forward").write_text("1")  # what leads nowhere is refused, not swallowed
    started = [(node, _spawn(plan, node)) for node in plan.nodes]
    pids = {node.name: _first_process(child) for node, child in started}
    _ip(network.link_commands(plan.nodes, pids))
    for node in plan.nodes:
        _ip(network.node_commands(node), "nsenter", "-t", str(pids[node.name]), "-n", "--")
    return pids


def _spawn(plan: network.Plan, node: network.NodePlan) -> subprocess.Popen[bytes]:
    folder = Path(plan.folder)
    stage = folder / node.name
    stage.mkdir()
    namespaces = ["--net", "--mount", "--uts", "--ipc", "--pid", "--fork", "--mount-proc", "--kill-child"]
    script = [str(HERE / "node.sh"), str(stage), plan.engine, plan.plugin, node.model, str(folder / "etc")]
    return subprocess.Popen(
        ["unshare", *namespaces, "sh", *script, str(HERE / "init.py"), node.name], stdout=subprocess.PIPE
    )


def _first_process(child: subprocess.Popen[bytes]) -> int:
    """Wait until the node says that it is up; its first process is the only child of ``unshare``."""
    assert child.stdout is not None
    if child.stdout.readline() != b"up\n":
        raise RuntimeError(f"a node could not be made: {' '.join(child.args)}")  # type: ignore[arg-type]
    (pid,) = Path(f"/proc/{child.pid}/task/{child.pid}/children").read_text().split()
    return int(pid)


def _ip(commands: str, *prefix: str) -> None:
    subprocess.run([*prefix, "ip", "-batch", "-"], input=commands.encode(), check=True)


class Hub:
    """What the first process does once the nodes are there.

    Args:
        folder: the deployment's state folder, removed when the deployment ends by itself.
        owner: pidfd of the process whose end is the end of the deployment, unless that process said `KEEP`.
        control: pipe on which `KEEP` may arrive.
    """

    def __init__(self, folder: Path, owner: int, control: int) -> None:
        self._folder = folder
        self._owner = owner
        self._control = control
        self._over = asyncio.Event()

    async def run(self, listener: socket.socket, host: str) -> None:
        """Serve until told to end."""
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGCHLD, _reap)
        loop.add_signal_handler(signal.SIGTERM, self._over.set)
        loop.add_reader(self._owner, self._over.set)
        loop.add_reader(self._control, self._listen)
        await forward(listener, host, network.API_PORT)
        _take_precedence()
        await self._over.wait()

    def _listen(self) -> None:
        asyncio.get_running_loop().remove_reader(self._control)
        if os.read(self._control, len(KEEP)) == KEEP:
            asyncio.get_running_loop().remove_reader(self._owner)

    def end(self) -> None:
        """End everything in the namespaces and remove the state folder."""
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        try:
            os.kill(-1, signal.SIGKILL)
            while True:
                os.wait()
        except (ProcessLookupError, ChildProcessError):
            shutil.rmtree(self._folder, ignore_errors=True)
            with contextlib.suppress(OSError):  # other deployments are in it
                self._folder.parent.rmdir()


def _take_precedence() -> None:
    """Forward ahead of ranks that compute on every core, or each byte waits for its turn (seen: 10 ms on two cores).

    Only root may; elsewhere it goes without.
    """
    with contextlib.suppress(PermissionError):
        os.sched_setscheduler(0, os.SCHED_FIFO | os.SCHED_RESET_ON_FORK, os.sched_param(1))


def _reap() -> None:
    try:
        while os.waitpid(-1, os.WNOHANG) != (0, 0):
            pass
    except ChildProcessError:
        pass


def why_not_here(owner: int) -> str | None:
    """Why this process must not be a hub; None where it is the first of a PID namespace that its owner is not in.

    The hub ends by killing everything that it can see, which anywhere else would be the processes of somebody else.

    Args:
        owner: pidfd of the process that started the deployment.
    """
    if os.getpid() != 1:
        return f"process {os.getpid()} is not the first of a PID namespace of its own"
    information = Path(f"/proc/self/fdinfo/{owner}")
    if not information.exists():
        return f"descriptor {owner} is not open"
    fields = dict(line.split(":", 1) for line in information.read_text().splitlines() if ":" in line)
    if "Pid" not in fields:
        return f"descriptor {owner} is not of a process"
    if int(fields["Pid"]) > 0:  # 0: not in this PID namespace, -1: it has ended
        return f"its owner, process {int(fields['Pid'])}, is in the same PID namespace"
    return None


def main() -> None:
    """Entry point: ``python -m shakedown.embedded.hub FOLDER --listener FD --owner FD --control FD --ready FD``."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    for descriptor in ("listener", "owner", "control", "ready"):
        parser.add_argument(f"--{descriptor}", type=int, required=True)
    arguments = parser.parse_args()
    reason = why_not_here(arguments.owner)
    if reason is not None:
        parser.exit(2, f"the hub kills all that it can see, and {reason}; use `python -m shakedown up`\n")
    plan = network.Plan.load(arguments.folder / PLAN)
    hub = Hub(arguments.folder, arguments.owner, arguments.control)
    try:
        pids = make_nodes(plan)
        with os.fdopen(arguments.ready, "w") as ready:
            print(json.dumps(pids), file=ready)
        asyncio.run(hub.run(socket.socket(fileno=arguments.listener), plan.nodes[0].management))
    finally:
        hub.end()


if __name__ == "__main__":
    main()
