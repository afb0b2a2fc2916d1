"""From hosts to a Ray cluster: `ray start` on the head, then on the worker, and the wait until both are alive."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Callable, Mapping

from shakedown.embedded import troubles
from shakedown.embedded.node import OWN, PYTHON, RunningNode, base_environment
from shakedown.embedded.shape import Shape
from shakedown.embedded.waiting import wait_until
from shakedown.errors import LaunchError

PORT = 6379
OBJECT_STORE_BYTES = 200_000_000
DEADLINE_S = 120.0  # for each step; an idle machine takes 6 s for all
_RAY = [str(PYTHON), "-m", "ray.scripts.scripts"]

_ALIVE = """
import sys, time
from ray._raylet import GcsClient
from ray.core.generated.gcs_pb2 import GcsNodeInfo
address, wanted, deadline = sys.argv[1], int(sys.argv[2]), time.monotonic() + float(sys.argv[3])
while True:
    nodes = GcsClient(address=address).get_all_node_info(timeout=5, state_filter=GcsNodeInfo.ALIVE).values()
    if len(nodes) >= wanted or time.monotonic() > deadline:
        break
    time.sleep(0.05)
print(" ".join(sorted(node.node_manager_address for node in nodes)))
sys.exit(len(nodes) != wanted)
"""


def address_of(node: RunningNode, shape: Shape) -> str:
    """The address by which Ray is told to know a node."""
    return node.plan.fabric if shape.ray_network == "fabric" else node.plan.management


def environment(node: RunningNode, shape: Shape, slow_load_s: float) -> dict[str, str]:
    """The environment of `ray start` on a node, which everything that Ray starts there inherits.

    Everything that vLLM's workers need stands here: vLLM hands over neither ``GLOO_SOCKET_IFNAME`` nor
    ``VLLM_HOST_IP`` from the API server to workers on other nodes.
    """
    role = node.plan.role
    variables = base_environment() | {
        "PYTHONPATH": str(OWN / "plugin"),
        "SHAKEDOWN_EMBEDDED": "1",
        "HF_HUB_OFFLINE": "1",
        "OMP_NUM_THREADS": "1",  # two ranks, an engine core and an API server share the cores
        "VLLM_CPU_OMP_THREADS_BIND": "nobind",
        "VLLM_NO_USAGE_STATS": "1",
        "TORCHDYNAMO_DISABLE": "1",  # parts of vLLM compile themselves at the first request, --enforce-eager or not
        "RAY_USAGE_STATS_ENABLED": "0",
    }
    if slow_load_s:
        variables["SHAKEDOWN_SLOW_LOAD_S"] = str(slow_load_s)
    if role in shape.gloo_nic_on:
        variables["GLOO_SOCKET_IFNAME"] = shape.gloo_nic.get(role, shape.fabric_nic["head"])
    if role in shape.host_ip_on:
        variables["VLLM_HOST_IP"] = shape.wrong_host_ip.get(role, node.plan.fabric)
    if role not in shape.engine_on:
        variables["PYTHONPATH"] = f"{troubles.without_engine(node)}:{variables['PYTHONPATH']}"
    if role in shape.monitor_headroom:
        threshold = troubles.memory_share(shape.monitor_headroom[role])
        variables |= {"RAY_memory_usage_threshold": f"{threshold:.3f}", "RAY_memory_monitor_refresh_ms": "100"}
    elif role in shape.monitor_off_on:
        variables["RAY_memory_monitor_refresh_ms"] = "0"
    return variables | node.plan.variables


def form(nodes: tuple[RunningNode, ...], shape: Shape, slow_load_s: float, tell: Callable[[str], None]) -> None:
    """Start Ray and wait until every node that was told to join is alive.

    Args:
        nodes: head first.
        shape: how the deployment is made.
        slow_load_s: delay of each shard in the workers that Ray will start, seconds.
        tell: gets a line for people at each step.

    Raises:
        LaunchError: Ray ended with an error, or not all nodes were alive in time.
    """
    head, *workers = nodes
    joining = workers if shape.joins else []
    environments = {node.name: environment(node, shape, slow_load_s) for node in nodes}
    gcs = f"{address_of(head, shape)}:{PORT}"
    commands = _Commands(tell)
    try:
        commands.start("Ray starts on the head", head, _start(head, shape, None), environments[head.name])
        wait_until(
            lambda: head.listens(PORT) or commands.one_ended(), DEADLINE_S, "Ray's GCS does not listen on the head"
        )
        for node in joining:
            commands.start(f"Ray starts on {node.name}", node, _start(node, shape, gcs), environments[node.name])
        commands.succeed()
        ask = [str(PYTHON), "-c", _ALIVE, gcs, str(1 + len(joining)), str(DEADLINE_S)]
        commands.start(f"{1 + len(joining)} Ray nodes are awaited", head, ask, environments[head.name])
        commands.succeed()
        troubles.in_cluster(nodes, shape, gcs)
    except BaseException:
        for node in nodes:
            node.clear()
        raise
    finally:
        commands.collect()


def commanded(node: RunningNode, shape: Shape, slow_load_s: float, head: RunningNode) -> str:
    """The same `ray start` as a shell of the node reads it, for the deployment file."""
    gcs = None if node is head else f"{address_of(head, shape)}:{PORT}"
    return f"exec {in_environment(environment(node, shape, slow_load_s), _start(node, shape, gcs))}"


def in_environment(variables: Mapping[str, str], argv: list[str]) -> str:
    """Shell text that runs a command with these variables and no others."""
    return shlex.join(["env", "-i", *(f"{name}={value}" for name, value in variables.items()), *argv])


def leave_behind(node: RunningNode, shape: Shape) -> None:
    """Start Ray on a node as an earlier deployment did, which nobody ended.

    Raises:
        LaunchError: it did not start.
    """
    commands = _Commands(lambda _: None)
    try:
        commands.start(f"an earlier Ray on {node.name}", node, _start(node, shape, None), environment(node, shape, 0.0))
        commands.succeed()
    finally:
        commands.collect()


class _Commands:
    """Commands that run on nodes at the same time."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell
        self._running: list[tuple[str, subprocess.Popen[str]]] = []

    def start(self, what: str, node: RunningNode, argv: list[str], environment: Mapping[str, str]) -> None:
        """Start one, and say so."""
        self._tell(what)
        self._running.append((what, node.popen(argv, environment)))

    def one_ended(self) -> bool:
        """True when one has ended, well or not."""
        return any(process.poll() is not None for _, process in self._running)

    def succeed(self) -> None:
        """Wait for all to end well.

        Raises:
            LaunchError: one did not; with what it said.
        """
        for what, process in self._running:
            try:
                output, _ = process.communicate(timeout=DEADLINE_S)
            except subprocess.TimeoutExpired as expired:
                said = (expired.output or b"").decode(errors="replace").strip()
                raise LaunchError(f"{what}: no end after {DEADLINE_S:g} s\n{said}") from None
            if process.returncode:
                raise LaunchError(f"{what}: exit status {process.returncode}\n{output.strip()}")
        self._running.clear()

    def collect(self) -> None:
        """Forget the rest; what runs on a node must have been ended there, since it holds our pipes."""
        for _, process in self._running:
            process.kill()
            process.communicate()


def _start(node: RunningNode, shape: Shape, gcs: str | None) -> list[str]:
    role = [f"--address={gcs}"] if gcs else ["--head", f"--port={PORT}", "--include-dashboard=false"]
    return [
        *(*_RAY, "start", *role),
        f"--node-ip-address={address_of(node, shape)}",
        "--num-cpus=1",  # Ray starts so many idle Python workers at once
        "--num-gpus=1",  # a promise: vLLM asks Ray for one accelerator a rank
        f"--object-store-memory={OBJECT_STORE_BYTES}",
        "--disable-usage-stats",
    ]
