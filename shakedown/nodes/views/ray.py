"""The Ray cluster as the GCS has it, and the raylet of one node: how it was started, and what it says of itself."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from shakedown.errors import EvidenceError
from shakedown.inventory.model import Deployment, Node
from shakedown.nodes.advice import AS_ROOT
from shakedown.nodes.answer import Command, Place, python_script
from shakedown.nodes.procfs import each_process
from shakedown.nodes.views.base import View

KEPT_VARIABLES = "RAY_|VLLM_|NCCL_|GLOO_|TP_|UCX_|HF_|TORCH_|PYTORCH_|TRITON_|CUDA_|OMP_"
"""Prefixes of the variables that are read from a process; no other variable leaves the node."""

KEPT_ARGUMENTS = "node_ip_address|gcs-address|session-name|log_dir"
"""Options of the raylet's command line that are read; it has dozens, some of them kilobytes long."""

_RAYLET = each_process(
    ["raylet"],
    f"""
    printf 'pid %s\\n' "$pid"
    tr '\\0' '\\n' <"$process/cmdline" | grep -E '^--({KEPT_ARGUMENTS})=' | sed 's/^/arg /'
    tr '\\0' '\\n' <"$process/environ" | grep -E '^({KEPT_VARIABLES})' | sed 's/^/env /'
    [ -r "$process/environ" ] || echo 'denied environ'
    above=$pid
    while [ "$above" -gt 1 ]; do
        above=$(sed -n 's/^PPid:[[:space:]]*//p' "/proc/$above/status") && [ "$above" ] || break
        read -r name <"/proc/$above/comm" && printf 'abv %s\\n' "$name"
    done
    logs=$(tr '\\0' '\\n' <"$process/cmdline" | sed -n 's/^--log_dir=//p')
    cat "$logs"/raylet.out* | grep -aE " $pid [0-9]+\\].*MemoryMonitor (disabled|initialized)" | sed 's/^/log /'
    """,
)
_RAYLET_COMMAND = Command(_RAYLET, Place.ENGINE, key="raylet: arguments, environment, memory monitor")

_CURRENT = Command(
    'file="${RAY_TMPDIR:-${TMPDIR:-/tmp}}/ray/ray_current_cluster"; [ ! -e "$file" ] || cat "$file"',
    Place.ENGINE,
    key="ray_current_cluster of the engine's user",
)
"""Where `ray.init()` looks when RAY_ADDRESS is not set. Source: ray/_private/{services,utils}.py of 2.60."""

MONITOR_VARIABLES = ("RAY_memory_monitor_refresh_ms", "RAY_memory_usage_threshold")
HEALTH_CHECKS = {
    "RAY_health_check_period_ms": 3000,
    "RAY_health_check_timeout_ms": 10000,
    "RAY_health_check_failure_threshold": 5,
}
DEFAULT_REFRESH_MS = 250
DEFAULT_THRESHOLD = 0.95
ROUNDING = 0.001
"""The log gives the threshold as the share that whole pages make, 95.000008 % for 0.95."""

_LINE = re.compile(
    r"MemoryMonitor (?:(?P<off>disabled)|initialized with usage threshold at (?P<bytes>\d+) bytes "
    r"\((?P<share>[\d.]+)(?P<percent>%?) (?:of )?system memory\))"
)


@dataclass(frozen=True, slots=True)
class RayNode:
    """One row of ``ray.nodes()``.

    Attributes:
        id: hexadecimal.
        alive: as the GCS sees it.
        address: ``NodeManagerAddress``.
        hostname: ``NodeManagerHostname``.
        death: why it died, in Ray's words.
        resources, available: amounts by name, all and free.
    """

    id: str
    alive: bool
    address: str
    hostname: str
    death: str
    resources: Mapping[str, float]
    available: Mapping[str, float]

    def __str__(self) -> str:
        return f"{self.hostname} as {self.address} ({'alive' if self.alive else 'dead'}, {self.id[:8]})"


@dataclass(frozen=True, slots=True)
class Cluster:
    """What the GCS knows.

    Attributes:
        nodes: every row, dead ones included.
        groups: placement groups: id -> state.
        session: name of the session.
    """

    nodes: tuple[RayNode, ...]
    groups: Mapping[str, str]
    session: str | None

    @property
    def alive(self) -> tuple[RayNode, ...]:
        """Rows of nodes that are alive."""
        return tuple(node for node in self.nodes if node.alive)


@dataclass(frozen=True, slots=True)
class Raylet:
    """A running raylet.

    Attributes:
        pid: on the node.
        arguments: its command line, as far as `KEPT_ARGUMENTS` goes.
        environment: the variables with a prefix of `KEPT_VARIABLES`; None if this user may not read them.
        ancestors: names of its parent, that one's parent and so on, as far as its PID namespace goes.
        monitor_lines: what this very process wrote about its memory monitor into the log of its session.
    """

    pid: int
    arguments: tuple[str, ...]
    environment: Mapping[str, str] | None
    ancestors: tuple[str, ...]
    monitor_lines: tuple[str, ...]

    def argument(self, name: str) -> str | None:
        """Value of ``--name=VALUE``."""
        return next((text.partition("=")[2] for text in self.arguments if text.startswith(f"--{name}=")), None)


@dataclass(frozen=True, slots=True)
class Monitor:
    """What a raylet wrote about its memory monitor when it started.

    Attributes:
        threshold: share of memory in use at which it kills workers; None if it is disabled.
        line: the line itself.
    """

    threshold: float | None
    line: str


class RayView(View):
    """Ray on one node. The tables of the GCS are asked on the head, everything else on every node."""

    @classmethod
    def commands(cls, deployment: Deployment, node: Node) -> tuple[Command, ...]:
        """One command finds the raylet and reads it, so that none depends on the answer of another.

        The head is also asked for the cluster that a driver without an address takes for its own.
        """
        own = (_gcs(deployment, node), _RAYLET_COMMAND)
        return (*own, _CURRENT) if node.role == "head" else own

    @cached_property
    def gcs_problem(self) -> str | None:
        """Why this node cannot connect to the GCS at the declared address; None if it can."""
        declared = self._json(_gcs(self._deployment, self._node))["declared"]
        return None if declared["reachable"] else str(declared["error"])

    @cached_property
    def unreachable(self) -> tuple[str, ...]:
        """Ports of the cluster's raylets, of all nodes, that this node cannot connect to; each with the reason.

        Raises:
            EvidenceError: no GCS told of them.
        """
        answer = self._json(_gcs(self._deployment, self._node))
        if answer.get("raylets") is None:
            why = answer.get("problem", "no answer")
            raise EvidenceError(f"the GCS told {self._node.name} of no raylet's ports: {why}")
        closed = (port for port in answer["raylets"] if not port["reachable"])
        return tuple(f"{port['role']} at {port['address']}: {port['error']}" for port in closed)

    @property
    def current_cluster(self) -> str | None:
        """The cluster that a driver attaches to which is given no address; None where `ray start` left none."""
        return self._text(_CURRENT).strip() or None

    @cached_property
    def cluster(self) -> Cluster:
        """The tables of the GCS; only the head is asked for them.

        Raises:
            EvidenceError: no GCS answers, or this is not the head.
        """
        answer = self._json(_gcs(self._deployment, self._node))
        if not answer.get("tables"):
            gcs = answer.get("gcs", {"address": "an address that is asked of the head only"})
            raise EvidenceError(
                f"no GCS answers {self._node.name} at {gcs['address']}: {gcs.get('error', 'not asked')}"
            )
        return parse_cluster(answer["tables"])

    @cached_property
    def raylets(self) -> tuple[Raylet, ...]:
        """All raylets that run on the node."""
        return parse_raylets(self._text(_RAYLET_COMMAND))

    @property
    def raylet(self) -> Raylet:
        """The one raylet of the node.

        Raises:
            EvidenceError: none runs, or several.
        """
        if len(self.raylets) != 1:
            pids = ", ".join(str(raylet.pid) for raylet in self.raylets) or "none"
            raise EvidenceError(f"one raylet should run on {self._node.name}; running: {pids}")
        return self.raylets[0]

    @property
    def environment(self) -> Mapping[str, str]:
        """The environment of the node's raylet, which its workers inherit.

        Raises:
            EvidenceError: there is no single raylet, or its environment is not ours to read.
        """
        raylet = self.raylet
        if raylet.environment is None:
            raise EvidenceError(
                f"the environment of raylet {raylet.pid} on {self._node.name} may not be read by this user",
                self._how_to_read_it(),
            )
        return raylet.environment

    def _how_to_read_it(self) -> str:
        container = self._deployment.container
        if container is None:
            return AS_ROOT
        return (
            "run Ray in the container as the user that `docker inspect -f '{{.Config.User}}'` names, or the container "
            f"as root: it belongs to another user than the one that `docker exec {container.name}` gives"
        )

    @property
    def monitor(self) -> Monitor:
        """What the raylet itself wrote about its memory monitor when it started.

        Raises:
            EvidenceError: there is no single raylet, or it wrote no such line.
        """
        return parse_monitor(self.raylet.monitor_lines)


def gcs_address(deployment: Deployment) -> str:
    """``host:port`` at which every node must find the GCS."""
    return f"{deployment.head.fabric_address}:{deployment.ray.port}"


def _gcs(deployment: Deployment, node: Node) -> Command:
    what = "tables" if node.role == "head" else "connect"
    return python_script("ray_cluster", node.python, gcs_address(deployment), what)


def parse_cluster(answer: Mapping[str, Any]) -> Cluster:
    """The script's JSON -> cluster.

    Raises:
        EvidenceError: a field is missing or of another type.
    """
    try:
        return Cluster(
            nodes=tuple(RayNode(**row) for row in answer["nodes"]),
            groups={group["id"]: group["state"] for group in answer["groups"]},
            session=answer["session"],
        )
    except (KeyError, TypeError) as error:
        raise EvidenceError(f"the answer about the cluster lacks {error}") from error


def parse_raylets(text: str) -> tuple[Raylet, ...]:
    """Lines ``pid N``, ``arg TEXT``, ``env NAME=VALUE``, ``abv NAME``, ``log TEXT``, ``denied environ`` -> raylets."""
    raylets: list[Raylet] = []
    for block in re.split(r"^pid (?=\d+$)", text, flags=re.MULTILINE)[1:]:
        pid, *lines = block.splitlines()
        said = {
            kind: tuple(line[4:] for line in lines if line.startswith(kind + " "))
            for kind in ("arg", "env", "abv", "log")
        }
        raylets.append(
            Raylet(
                pid=int(pid),
                arguments=said["arg"],
                environment=None
                if "denied environ" in lines
                else dict(line.partition("=")[::2] for line in said["env"]),
                ancestors=said["abv"],
                monitor_lines=said["log"],
            )
        )
    return tuple(raylets)


def parse_monitor(lines: Sequence[str]) -> Monitor:
    """Lines of ``raylet.out`` about the memory monitor -> what the last one says, in the words of Ray 2.53 or 2.60.

    Raises:
        EvidenceError: no line, or one in other words.
    """
    if not lines:
        raise EvidenceError("raylet.out does not tell whether the memory monitor is on")
    found = _LINE.search(lines[-1])
    if not found:
        raise EvidenceError(f"raylet.out tells of the memory monitor in other words: {lines[-1]!r}")
    if found["off"]:
        return Monitor(None, lines[-1])
    return Monitor(float(found["share"]) / (100 if found["percent"] else 1), lines[-1])


def monitor_setting(environment: Mapping[str, str]) -> float | None:
    """What a raylet's environment makes of its memory monitor: the threshold, or None where it is disabled.

    Ray's defaults are a look every 250 ms and a threshold of 0.95; a period of 0 disables it.
    Source: https://docs.ray.io/en/latest/ray-core/scheduling/ray-oom-prevention.html

    Raises:
        EvidenceError: a value that is no number.
    """
    try:
        refresh, threshold = MONITOR_VARIABLES
        if float(environment.get(refresh, DEFAULT_REFRESH_MS)) == 0:
            return None
        return float(environment.get(threshold, DEFAULT_THRESHOLD))
    except ValueError as error:
        raise EvidenceError(f"a variable of the memory monitor is no number: {error}") from error


def impatient(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Settings of the GCS's health checks that are stricter than Ray's own, with those.

    Source of the names and defaults: ``src/ray/common/ray_config_def.h``; a raylet has the environment of the
    `ray start` that started the GCS beside it.
    """
    return tuple(
        f"{name}={environment[name]}, by itself {default}"
        for name, default in HEALTH_CHECKS.items()
        if environment.get(name, "").isdecimal() and int(environment[name]) < default
    )


def same_threshold(one: float | None, other: float | None) -> bool:
    """Whether two settings of the memory monitor are one: both disabled, or equal but for rounding."""
    if one is None or other is None:
        return one is other
    return abs(one - other) < ROUNDING
