"""What a deployment is meant to be: the typed form of a deployment file.

Every key of the file is a field here, and no other key is accepted. What several keys must be to each other stands in
`consistency.py`; `load.py` turns what is wrong into text for people.
"""

from __future__ import annotations

from datetime import date
from ipaddress import IPv4Address
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, PositiveFloat, PositiveInt, model_validator

from shakedown.inventory.profile import DEFAULT, Expect, Profile
from shakedown.inventory.types import (
    AbsolutePath,
    Address,
    BaseUrl,
    CheckId,
    Commands,
    Destination,
    Device,
    Fraction,
    Interface,
    Name,
    Port,
    Program,
    Subnet,
    Text,
    VariableName,
)

FILE_VERSION = 1
STATE_FOLDER = Path("reports/baselines")


class Section(BaseModel):
    """A table of the file: unknown keys are refused, values cannot be changed."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class DeploymentSection(Section):
    """``[deployment]``."""

    name: Name
    profile: Name = DEFAULT
    state: Text | None = None


class Network(Section):
    """``[fabric]`` and ``[management]``: the subnets of one of the two networks."""

    subnets: Annotated[tuple[Subnet, ...], Field(min_length=1)]

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
    ssh: Destination | None = None
    ssh_config: Text | None = None
    local: bool = False
    namespace: NamespaceTarget | None = None
    sudo: bool = False
    fabric_address: Address
    interface: Interface
    hcas: tuple[Device, ...] = ()
    gpus: Annotated[int, Field(ge=0)] = 1
    python: Program = "python3"


class Container(Section):
    """``[container]``: Ray and the engine run in it, on every node."""

    runtime: Literal["docker"] = "docker"
    name: Name
    image: Text | None = None


class Ray(Section):
    """``[ray]``: what the cluster must look like.

    Attributes:
        memory_monitor: ``disabled``, or the usage threshold (share of memory) at which Ray may kill a worker.
        logs: folder of the session's logs on every node.
    """

    port: Port = 6379
    memory_monitor: Literal["disabled"] | Fraction = "disabled"
    logs: AbsolutePath = PurePosixPath("/tmp/ray/session_latest/logs")  # noqa: S108 - Ray's own default


class Model(Section):
    """``[model]``: what is served.

    Attributes:
        shards: number of safetensors files that the folder must hold.
        roofline_tokens_per_s: rate of a single stream that this model cannot exceed on this hardware, tokens/s:
            memory bandwidth of all ranks divided by the bytes that one token reads.
    """

    served_name: Text
    path: AbsolutePath
    shards: PositiveInt
    max_model_len: PositiveInt
    roofline_tokens_per_s: PositiveFloat | None = None


class Serve(Section):
    """``[serve]``: how it is served, and where it answers.

    Attributes:
        base_url: where this machine reaches the server; no ``/v1``.
        port: what the server listens on, on the head; the port of ``base_url`` unless given.
        gpu_memory_utilization: share of each accelerator's memory; on CPU, of the machine's.
        kv_cache_memory_gib: ``--kv-cache-memory-bytes`` of one rank in GiB; a GPU's share above must be free even so.
        kv_cache_dtype, load_format, enforce_eager: as given to the engine.
        max_num_seqs, max_num_batched_tokens: as given to the engine; None where its own defaults stand.
        thinking_switch: argument of the chat template that turns thinking on and off; ``none`` where there is none:
            then a model with a reasoning parser always thinks, and one without never does.
    """

    engine: Literal["vllm"] = "vllm"
    base_url: BaseUrl
    port: Port
    api_key_env: VariableName | None = None
    log: AbsolutePath | None = None
    log_in: Literal["host", "container"] = "host"
    executor: Literal["ray"] = "ray"
    tensor_parallel: PositiveInt = 1
    pipeline_parallel: PositiveInt = 1
    gpu_memory_utilization: Fraction = 0.9
    kv_cache_memory_gib: PositiveFloat | None = None
    kv_cache_dtype: Name = "auto"
    max_num_seqs: PositiveInt | None = None
    max_num_batched_tokens: PositiveInt | None = None
    enforce_eager: bool = False
    load_format: Name = "auto"
    reasoning_parser: Name | None = None
    tool_call_parser: Name | None = None
    thinking_switch: Literal["enable_thinking", "thinking", "none"] = "enable_thinking"

    @model_validator(mode="before")
    @classmethod
    def _port_of_url(cls, data: Any) -> Any:
        if not isinstance(data, dict) or "port" in data:
            return data
        try:
            parts = urlsplit(data.get("base_url", ""))
            port = parts.port or {"http": 80, "https": 443}[parts.scheme]
        except (ValueError, KeyError, TypeError, AttributeError):
            port = 80  # base_url is refused on its own; a second complaint about the port would not help
        return {**data, "port": port}


class Launch(Section):
    """``[launch]``: the operator's own start commands; a missing one means ours."""

    ray_head: Commands | None = None
    ray_worker: Commands | None = None
    serve: Commands | None = None


class Slo(Section):
    """``[[slo]]``: a limit that a metric of a scenario must keep, baseline or not."""

    scenario: Name
    metric: Name
    max: PositiveFloat | None = None
    min: PositiveFloat | None = None


class Waiver(Section):
    """``[[waiver]]``: a finding that is known and put up with for a while.

    Attributes:
        id: of the finding.
        node: on which it is put up with; without it wherever it is found.
        reason: why, for whoever reads the report.
        until: the last day, UTC, on which the waiver helps.
    """

    id: CheckId
    node: Name | None = None
    reason: Text
    until: date

    def covers(self, id: str, node: str | None) -> bool:
        """Whether it is about a finding of that id on that node (None: on the whole deployment), in force or not."""
        return self.id == id and self.node in (None, node)


class Deployment(Section):
    """A whole deployment file, with the expected values of its profile beside it.

    Attributes:
        expect: what the file itself says of expected values.
        profile: the values that hold: the profile's, and those of ``expect`` instead where there are any.
    """

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
    waiver: tuple[Waiver, ...] = ()
    expect: Expect = Expect()
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
    def state(self) -> Path:
        """Folder of baselines, calibration and history, relative to the working directory unless absolute."""
        return Path(self.deployment.state) if self.deployment.state else STATE_FOLDER / self.name

    @property
    def roofline_tokens_per_s(self) -> float | None:
        """Rate that no single stream can exceed, tokens/s: the model's own, else the profile's, else unknown."""
        return self.model.roofline_tokens_per_s or self.profile.roofline_tokens_per_s

    @property
    def head(self) -> Node:
        """The node that runs the GCS and the API server."""
        return next(node for node in self.node if node.role == "head")

    @property
    def workers(self) -> tuple[Node, ...]:
        """All nodes but the head."""
        return tuple(node for node in self.node if node.role == "worker")

    def peers(self, node: Node) -> tuple[Node, ...]:
        """All nodes but that one."""
        return tuple(other for other in self.node if other.name != node.name)

    def named(self, name: str) -> Node:
        """The node of that name; KeyError if there is none."""
        for node in self.node:
            if node.name == name:
                return node
        raise KeyError(name)
