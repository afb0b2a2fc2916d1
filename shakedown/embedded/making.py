"""The making of a deployment: its plan is written, its outer namespace started, its nodes found."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import IO

from shakedown.embedded import cluster, describe, hub, machine, network, troubles
from shakedown.embedded.deployment import EmbeddedDeployment, Handle
from shakedown.embedded.node import LOGS, PYTHON, RunningNode, base_environment
from shakedown.embedded.processes import PROC, Process, children, find
from shakedown.embedded.shape import Role, Shape
from shakedown.embedded.state import Record, StateFolder
from shakedown.embedded.waiting import wait_until
from shakedown.errors import LaunchError

_NODES: tuple[tuple[Role, str, int], ...] = (("head", "node-a", 12), ("worker", "node-b", 13))


def prepare(folder: Path, engine: Path, shape: Shape) -> network.Plan:
    """Write everything that the hub needs into the state folder."""
    nodes = tuple(
        network.NodePlan(
            name=name,
            role=role,
            fabric=str(network.FABRIC[last]),
            management=str(network.MANAGEMENT[last]),
            model=str(troubles.model(folder / f"model-{name}", shape.model.get(role))),
            fabric_nic=shape.fabric_nic[role],
            mtu=shape.mtu[role],
            fabric_up=role in shape.fabric_up_on,
            isolated=shape.management_isolated,
            taken_port=network.API_PORT if shape.port_taken and role == "head" else None,
        )
        for role, name, last in _NODES
    )
    plan = network.Plan(str(folder), str(engine), str(machine.PLUGIN), nodes)
    etc = folder / "etc"
    etc.mkdir()
    (etc / "hosts").write_text(network.hosts_file(nodes, on_loopback=shape.names_on_loopback))
    (etc / "resolv.conf").write_text("# no resolver: there is no way out of this deployment\n")
    plan.save(folder / hub.PLAN)
    return plan


def spawn(folder: StateFolder, record: Record, plan: network.Plan, shape: Shape, *, owned: bool) -> EmbeddedDeployment:
    """Start the hub in its namespaces; it makes the nodes.

    Raises:
        LaunchError: they could not be made; with what was said about it.
    """
    listener = socket.create_server(("127.0.0.1", 0), backlog=512)  # stays in this network namespace
    record = record.model_copy(update={"port": listener.getsockname()[1]})
    with listener, tempfile.TemporaryFile() as errors:
        handle, ready = _launch(folder.path, listener, errors.fileno(), owned=owned)
        try:
            record = record.model_copy(update={"namespaces": find(handle.launcher.pid)})
            folder.write(record)
            record = record.model_copy(update=_identities(handle.launcher.pid, _answer(ready, errors)))
            folder.write(record)
            nodes = tuple(RunningNode(node, record.nodes[node.name]) for node in plan.nodes)
            _await_links(nodes)
            for node in nodes:
                _take_port(node)
            troubles.on_files(nodes, shape)
            troubles.on_fabric(nodes, shape)
            for node in nodes:
                if node.plan.role in shape.left_over_on:
                    cluster.leave_behind(node, shape)
            describe.write(folder.deployment_file, nodes, record.port, shape, record.slow_load_s)
        except BaseException:
            folder.remove()
            handle.forget()
            raise
    return EmbeddedDeployment(folder, record, nodes, handle)


def _answer(ready: int, errors: IO[bytes]) -> dict[str, int]:
    """What the hub says once the nodes are there: the first process of each, as it counts them."""
    with os.fdopen(ready) as pipe:
        line = pipe.readline()
    if not line:
        errors.seek(0)
        raise LaunchError(f"the nodes could not be made\n{errors.read().decode(errors='replace').strip()}")
    pids: dict[str, int] = json.loads(line)
    return pids


def _await_links(nodes: tuple[RunningNode, ...]) -> None:
    """The kernel tells of a cable up to a second after it is plugged in; before that a healthy NIC looks down."""
    if all(node.plan.fabric_up for node in nodes):
        wait_until(lambda: all(node.fabric_is_up for node in nodes), 5, "the fabric NIC comes up on both nodes")


def _take_port(node: RunningNode) -> None:
    """Let a web server of no use listen where the plan says so, as one that somebody forgot would."""
    port = node.plan.taken_port
    if port is not None:
        node.daemon([str(PYTHON), "-m", "http.server", str(port)], base_environment(), LOGS / "http-server.log")
        wait_until(lambda: node.listens(port), 10, f"port {port} is taken on {node.name}")


def _launch(folder: Path, listener: socket.socket, errors: int, *, owned: bool) -> tuple[Handle, int]:
    """Start the hub; gives the handle on it, and the pipe on which it says that the nodes are there."""
    owner = os.pidfd_open(os.getpid())
    heard, control = os.pipe()
    ready, told = os.pipe()
    descriptors = {"listener": listener.fileno(), "owner": owner, "control": heard, "ready": told}
    options = [text for name, descriptor in descriptors.items() for text in (f"--{name}", str(descriptor))]
    try:
        launcher = subprocess.Popen(
            ["unshare", *machine.outer_namespaces(), sys.executable, "-m", "shakedown.embedded.hub", folder, *options],
            stdin=subprocess.DEVNULL,
            stdout=errors,
            stderr=errors,
            pass_fds=tuple(descriptors.values()),
            env=os.environ | {"PYTHONPATH": str(machine.ROOT), "PYTHONDONTWRITEBYTECODE": "1"},
            start_new_session=True,  # Ctrl-C is for the process at the terminal, which then takes this one down
        )
    finally:
        for descriptor in (owner, heard, told):
            os.close(descriptor)
    return Handle(launcher, control, owned), ready


def _identities(launcher: int, pids: dict[str, int]) -> dict[str, object]:
    """Hub and nodes as this machine counts them.

    Args:
        launcher: the hub's ``unshare``.
        pids: first process of each node as the hub counts it, by node name.
    """
    (hub_pid,) = children(launcher)
    seen = {_number_above(pid): pid for child in children(hub_pid) for pid in children(child)}
    return {"hub": _identity(hub_pid), "nodes": {name: _identity(seen[pid]) for name, pid in pids.items()}}


def _number_above(pid: int) -> int:
    """Number of a node's first process one namespace above its own."""
    for line in (PROC / str(pid) / "status").read_text().splitlines():
        if line.startswith("NSpid:"):
            return int(line.split()[-2])
    raise LaunchError(f"the kernel does not tell the namespaces of process {pid}")


def _identity(pid: int) -> Process:
    process = find(pid)
    if process is None:
        raise LaunchError(f"process {pid} of the deployment ended while it was being made")
    return process
