"""Where followers run, and what each follows there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from shakedown.inventory.model import Deployment, Node
from shakedown.launch.events import Stream
from shakedown.nodes.transport import DockerExec, Transport, machine_transport, transport_for


@dataclass(frozen=True, slots=True)
class Place:
    """A machine, or the container on it.

    Attributes:
        node: the node's name.
        transport: the way there.
        pythons: interpreters that may be there, the best first.
        container: name of the container that the place is; None for a machine.
        runs_engine: whether the engine's processes run there, so that stamps of its logs are of this place's time zone.
        order: what to follow, as :func:`shakedown.launch.scripts.follow.sources_of` takes it.
    """

    node: str
    transport: Transport
    pythons: tuple[str, ...]
    container: str | None
    runs_engine: bool
    order: dict[str, Any]


def places(deployment: Deployment) -> Iterator[Place]:
    """Two of each node where a container is declared, else one."""
    for node in deployment.node:
        if deployment.container:
            yield _container(deployment, node, deployment.container.name)
        yield _machine(deployment, node)


def _machine(deployment: Deployment, node: Node) -> Place:
    """What only the machine has; everything, where there is no container."""
    serve = deployment.serve
    bare = deployment.container is None
    container = None
    if deployment.container:
        prints = Stream.SERVE if node.role == "head" and serve.log is None else Stream.CONTAINER
        container = [deployment.container.name, prints.value]
    return Place(
        node=node.name,
        transport=machine_transport(node),
        pythons=(node.python, "python3") if bare else ("python3",),
        container=None,
        runs_engine=bare,
        order={
            "files": _serve_log(deployment, node, "host") + (_ray_logs(deployment, node) if bare else []),
            "processes": bare,
            "port": _port(deployment, node) if bare else None,
            "interface": node.interface,
            "hcas": list(node.hcas),
            "kernel": True,
            "container": container,
        },
    )


def _container(deployment: Deployment, node: Node, name: str) -> Place:
    transport = transport_for(node, deployment)
    assert isinstance(transport, DockerExec)
    return Place(
        node=node.name,
        transport=transport,
        pythons=(node.python, "python3"),
        container=name,
        runs_engine=True,
        order={
            "files": _serve_log(deployment, node, "container") + _ray_logs(deployment, node),
            "processes": True,
            "port": _port(deployment, node),
            "interface": None,
            "hcas": [],
            "kernel": False,
            "container": None,
        },
    )


def _serve_log(deployment: Deployment, node: Node, where: str) -> list[tuple[str, str]]:
    """The server runs on the head alone. Without a container, a log in the container is one on the machine."""
    serve = deployment.serve
    there = serve.log_in == where or deployment.container is None
    return [(Stream.SERVE.value, str(serve.log))] if serve.log and node.role == "head" and there else []


def _ray_logs(deployment: Deployment, node: Node) -> list[tuple[str, str]]:
    folder = deployment.ray.logs
    names = [(Stream.RAYLET_OUT, "raylet.out"), (Stream.RAYLET_ERR, "raylet.err")]
    if node.role == "head":
        names.append((Stream.GCS, "gcs_server.out"))
    names += [(Stream.WORKER, "worker-*.out"), (Stream.WORKER, "worker-*.err")]
    return [(stream.value, str(folder / name)) for stream, name in names]


def _port(deployment: Deployment, node: Node) -> int | None:
    return deployment.serve.port if node.role == "head" else None
