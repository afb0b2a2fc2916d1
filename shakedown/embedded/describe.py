"""The deployment file of an embedded deployment, through which the suite attaches to it as to any other."""

from __future__ import annotations

from pathlib import Path

from shakedown.embedded import cluster, network, server
from shakedown.embedded.node import MODEL, PYTHON, RunningNode
from shakedown.embedded.shape import Shape
from shakedown.inventory.write import write_deployment
from shakedown.units import GIB

PLANNED = Path(__file__).parent / "planned.toml"
"""The same file before any node is made: names, roles and profile are true, process ids and the port are not;
how it is started is known when it is made."""

NAME = "embedded"  # results and baselines of all embedded deployments belong together


def write(path: Path, nodes: tuple[RunningNode, ...], port: int, shape: Shape, slow_load_s: float) -> None:
    """Write the file.

    Args:
        path: of the file.
        nodes: head first.
        port: of the forwarder on this machine's loopback.
        shape: how the deployment is made, and so how it is started.
        slow_load_s: delay of each shard, seconds.
    """
    head, *workers = nodes
    write_deployment(
        {
            "version": 1,
            "deployment": {"name": NAME, "profile": "embedded"},
            "fabric": {"subnets": [network.FABRIC]},
            "management": {"subnets": [network.MANAGEMENT]},
            "node": [_node(node) for node in nodes],
            "ray": {"port": cluster.PORT, "memory_monitor": "disabled"},
            "model": {
                "served_name": server.SERVED_NAME,
                "path": MODEL,
                "shards": server.SHARDS,
                "max_model_len": server.MAX_MODEL_LEN,
            },
            "serve": {
                "base_url": f"http://127.0.0.1:{port}",
                "port": network.API_PORT,
                "log": server.LOG,
                "tensor_parallel": len(nodes),
                "kv_cache_memory_gib": shape.kv_cache_bytes / GIB,
                "enforce_eager": True,
                "reasoning_parser": server.PARSERS["reasoning"],
                "tool_call_parser": server.PARSERS["tool_call"],
            },
            "launch": {
                "ray_head": cluster.commanded(head, shape, slow_load_s, head),
                "ray_worker": cluster.commanded(workers[0], shape, slow_load_s, head),
                "serve": server.commanded(head, shape, slow_load_s),
            },
        },
        path,
    )


def _node(node: RunningNode) -> dict[str, object]:
    return {
        "name": node.name,
        "role": node.plan.role,
        "namespace": {"pid": node.process.pid, "started": node.process.started},
        "fabric_address": node.plan.fabric,
        "interface": node.plan.fabric_nic,
        "gpus": 1,
        "python": PYTHON,
    }
