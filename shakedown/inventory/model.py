"""What a deployment is meant to be: the typed form of a deployment file.

Every key of the file is a field here, and no other key is accepted. Checks that span several keys stand on the model
they belong to; `load.py` turns the errors into text for people.
"""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network
from pathlib import PurePosixPath
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, PositiveFloat, PositiveInt, StringConstraints

from shakedown.inventory.profile import Profile

FILE_VERSION = 1

Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$")]
Interface = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._:-]{0,14}$")]
Fraction = Annotated[float, Field(gt=0, le=1)]
Port = Annotated[int, Field(ge=1, le=65535)]


class Section(BaseModel):
    """A table of the file: unknown keys are refused, values cannot be changed."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class DeploymentSection(Section):
    """``[deployment]``"""

    name: Name
    profile: str = "generic-pair"
    state: str | None = None


class Network(Section):
    """``[fabric]`` and ``[management]``: the subnets of one of the two networks."""

    subnets: Annotated[tuple[IPv4Network, ...], Field(min_length=1)]

    def holds(self, address: IPv4Address) -> bool:
        """True if the address belongs to one of the subnets."""
        return any(address in subnet for subnet in self.subnets)


class NamespaceTarget(Section):
    """A node that is a set of Linux namespaces on this machine.

    Attributes:
        pid: first process of the node's PID namespace, as the host counts it.
        started: its start time in clock ticks since boot (field 22 of ``/proc/PID/stat``), so that a recycled pid is
            never entered.
    """

    pid: PositiveInt
    started: PositiveInt


class Node(Section):
    """``[[node]]``: one machine. Exactly one of ``ssh``, ``local`` and ``namespace`` says how it is reached."""

    name: Name
    role: Literal["head", "worker"]
    ssh: str | None = None
    ssh_config: str | None = None
    local: bool = False
    namespace: NamespaceTarget | None = None
    sudo: bool = False
    fabric_address: IPv4Address
    interface: Interface
    hcas: tuple[str, ...] = ()
    gpus: Annotated[int, Field(ge=0)] = 1
    python: str = "python3"


class Container(Section):
    """``[container]``: Ray and the engine run in it, on every node."""

    runtime: Literal["docker"] = "docker"
    name: str
    image: str | None = None


class Ray(Section):
    """``[ray]``: what the cluster must look like.

    Attributes:
        memory_monitor: ``disabled``, or the usage threshold (share of memory) at which Ray may kill a worker.
        logs: folder of the session's logs on every node.
    """

    port: Port = 6379
    memory_monitor: Literal["disabled"] | Fraction = "disabled"
    logs: PurePosixPath = PurePosixPath("/tmp/ray/session_latest/logs")  # noqa: S108 - Ray's own default


class Model(Section):
    """``[model]``: what is served."""

    served_name: str
    path: PurePosixPath
    shards: PositiveInt
    max_model_len: PositiveInt


class Serve(Section):
    """``[serve]``: how it is served, and where it answers."""

    engine: Literal["vllm"] = "vllm"
    base_url: str
    port: Port = 30000
    api_key_env: str | None = None
    log: PurePosixPath | None = None
    log_in: Literal["host", "container"] = "host"
    executor: Literal["ray"] = "ray"
    tensor_parallel: PositiveInt = 1
    pipeline_parallel: PositiveInt = 1
    gpu_memory_utilization: Fraction = 0.9
    reasoning_parser: str | None = None
    tool_call_parser: str | None = None


class Launch(Section):
    """``[launch]``: the operator's own start commands; a missing one means ours."""

    ray_head: str | None = None
    ray_worker: str | None = None
    serve: str | None = None


class Slo(Section):
    """``[[slo]]``: a limit that a metric of a scenario must keep, baseline or not."""

    scenario: str
    metric: str
    max: PositiveFloat | None = None
    min: PositiveFloat | None = None


class Deployment(Section):
    """A whole deployment file, with the expected values of its profile beside it."""

    version: Literal[1]
    deployment: DeploymentSection
    fabric: Network
    management: Network
    node: Annotated[tuple[Node, ...], Field(min_length=2)]
    container: Container | None = None
    ray: Ray = Ray()
    model: Model
    serve: Serve
    launch: Launch | None = None
    slo: tuple[Slo, ...] = ()
    profile: Profile = Field(exclude=True)

    @property
    def name(self) -> str:
        """The name by which results, baselines and reports are filed."""
        return self.deployment.name

    @property
    def label(self) -> str | None:
        """EMBEDDED or SIMULATED where nothing is said about anybody's machines, else None."""
        return self.profile.label

    @property
    def head(self) -> Node:
        """The node that runs the GCS and the API server."""
        return next(node for node in self.node if node.role == "head")

    @property
    def workers(self) -> tuple[Node, ...]:
        """All nodes but the head."""
        return tuple(node for node in self.node if node.role == "worker")

    def named(self, name: str) -> Node:
        """The node of that name; KeyError if there is none."""
        for node in self.node:
            if node.name == name:
                return node
        raise KeyError(name)
