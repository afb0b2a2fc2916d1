"""What is done to a deployment to give it the troubles of its shape: to files, to the fabric, to the cluster."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from shakedown.embedded import machine
from shakedown.embedded.node import MODEL, OWN, PYTHON, RunningNode, base_environment
from shakedown.embedded.shape import Damage, Shape
from shakedown.errors import LaunchError, MissingPrerequisiteError

_HOLD = """
import sys
import ray
from ray.util.placement_group import placement_group
ray.init(address=sys.argv[1], log_to_driver=False, configure_logging=False)
group = placement_group([{"GPU": 1, f"node:{sys.argv[2]}": 0.001}], lifetime="detached", name="left-over")
ray.get(group.ready(), timeout=60)
"""
_DEAD = """
import sys, time
from ray._raylet import GcsClient
from ray.core.generated.gcs_pb2 import GcsNodeInfo
while not GcsClient(address=sys.argv[1]).get_all_node_info(timeout=5, state_filter=GcsNodeInfo.DEAD):
    time.sleep(0.2)
"""
_FILTER = """\
add table ip shakedown
add chain ip shakedown fabric {{ type filter hook input priority 0; }}
add rule ip shakedown fabric iifname {nic} {rule} drop
"""
_LIMIT_S = 120.0
"""Ray misses a dead node after some 20 s; on a busy machine a command of Python takes as long to start."""


def model(copy: Path, damage: Damage | None) -> Path:
    """The model's folder, or a copy of it with that damage; what is missing is taken away on the node."""
    if damage in (None, "folder missing"):
        return machine.MODEL
    shutil.copytree(machine.MODEL, copy)
    shards = sorted(copy.glob("*.safetensors"))
    shard = shards[len(shards) // 2]
    if damage == "shard truncated":
        os.truncate(shard, shard.stat().st_size // 2)
    elif damage == "shard missing":
        shard.unlink()
    elif damage == "shard corrupted":
        with shard.open("r+b") as file:
            file.seek(-1, os.SEEK_END)
            last = file.read(1)
            file.seek(-1, os.SEEK_END)
            file.write(bytes([last[0] ^ 1]))
    elif damage == "unknown architecture":
        _change(copy / "config.json", architectures=["ShakedownForCausalLM"])
    else:
        _change(copy / "config.json", rope_theta=500000.0)
    return copy


def on_files(nodes: Sequence[RunningNode], shape: Shape) -> None:
    """Take away what a node is to lack.

    Raises:
        LaunchError: it could not be taken away.
    """
    for node in nodes:
        if shape.model.get(node.plan.role) == "folder missing":
            _run(node, ["sh", "-c", f"umount -n {MODEL} && rmdir {MODEL}"])


def memory_share(headroom_bytes: int, meminfo: Path = Path("/proc/meminfo")) -> float:
    """The share of this machine's memory that is in use once so many bytes more are taken than now."""
    fields = dict(line.split(":", 1) for line in meminfo.read_text().splitlines())
    total, available = (int(fields[name].split()[0]) * 1024 for name in ("MemTotal", "MemAvailable"))
    return min(0.95, (total - available + headroom_bytes) / total)


def on_fabric(nodes: Sequence[RunningNode], shape: Shape) -> None:
    """Drop and throttle what the fabric NICs carry.

    Raises:
        MissingPrerequisiteError: the program for it is missing.
        LaunchError: the kernel does not know how to.
    """
    for node in nodes:
        rule = shape.dropped.get(node.plan.role)
        if rule:
            _need("nft", "nftables")
            _run(node, ["nft", _FILTER.format(nic=node.plan.fabric_nic, rule=rule)])
        if shape.rate:
            _need("tc", "iproute2")
            bucket = f"rate {shape.rate} burst 64kb latency 100ms".split()
            _run(node, ["tc", "qdisc", "add", "dev", node.plan.fabric_nic, "root", "tbf", *bucket])


def in_cluster(nodes: Sequence[RunningNode], shape: Shape, gcs: str) -> None:
    """Let a job leave something behind, and a node die, in a cluster that has been formed.

    Raises:
        LaunchError: it could not be brought about.
    """
    head, *workers = nodes
    for worker in workers:
        if shape.accelerator_held:
            _run(head, [str(PYTHON), "-c", _HOLD, gcs, worker.plan.fabric])
        if shape.worker_dies:
            worker.clear()
            _run(head, [str(PYTHON), "-c", _DEAD, gcs])


def without_engine(node: RunningNode) -> Path:
    """A folder of the node that hides the engine from a Python which finds it first."""
    folder = OWN / "no-engine"
    node.file(folder).mkdir(exist_ok=True)
    node.file(folder / "vllm.py").write_text("raise ModuleNotFoundError(\"No module named 'vllm'\", name='vllm')\n")
    return folder


def _change(config: Path, **values: object) -> None:
    config.write_text(json.dumps(json.loads(config.read_text()) | values, indent=2))


def _need(tool: str, package: str) -> None:
    if shutil.which(tool, path=f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin") is None:
        raise MissingPrerequisiteError(
            f"this fault needs {tool} (package {package}); install it with the system's packages"
        )


def _run(node: RunningNode, argv: Sequence[str]) -> None:
    variables: Mapping[str, str] = base_environment() | {"RAY_USAGE_STATS_ENABLED": "0"}
    try:
        done = subprocess.run(
            node.enter(argv, variables), capture_output=True, text=True, check=False, timeout=_LIMIT_S
        )
    except subprocess.TimeoutExpired as error:
        raise LaunchError(f"{argv[0]} on {node.name} did not end within {_LIMIT_S:g} s") from error
    if done.returncode:
        raise LaunchError(f"{argv[0]} failed on {node.name}: {(done.stderr or done.stdout).strip()[-500:]}")
