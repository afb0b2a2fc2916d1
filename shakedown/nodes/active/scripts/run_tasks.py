# revision: 1
"""One Ray task on every node that is alive, bound to it: where it ran, and whether it could import; as JSON.

Arguments: seconds, and modules to import. The cluster is the one that this node's raylet belongs to. A task asks for no
processor and no accelerator, so that it runs beside whatever holds them.
"""

from __future__ import annotations

import importlib
import json
import sys
import time
from pathlib import Path
from typing import Any


def own_gcs(processes: Path = Path("/proc")) -> str | None:
    """Address of the GCS by the command line of this node's raylet; None if none runs."""
    for name in processes.glob("[0-9]*/comm"):
        try:
            if name.read_text().strip() == "raylet":
                arguments = (name.parent / "cmdline").read_text().split("\0")
                return next(text.partition("=")[2] for text in arguments if text.startswith("--gcs-address="))
        except (OSError, StopIteration):
            continue
    return None


def work(modules: list[str]) -> dict[str, Any]:
    """What runs on a node: its address as Ray has it, its interpreter, and why a module could not be imported."""
    import importlib
    import platform
    import sys

    ray = importlib.import_module("ray")
    problems = {}
    for module in modules:
        try:
            importlib.import_module(module)
        except Exception as error:  # noqa: BLE001 - whatever a foreign module raises is the answer
            problems[module] = f"{type(error).__name__}: {error}"
    return {
        "address": ray.util.get_node_ip_address(),
        "host": platform.node(),
        "python": sys.executable,
        "problems": problems,
    }


def main() -> None:
    """Print the answer."""
    limit_s, *modules = sys.argv[1:]
    gcs = own_gcs()
    if gcs is None:
        raise SystemExit("no raylet runs here")
    ray = importlib.import_module("ray")
    strategies = importlib.import_module("ray.util.scheduling_strategies")
    deadline = time.monotonic() + float(limit_s)
    ray.init(address=gcs, log_to_driver=False, configure_logging=False, namespace="shakedown")
    rows = [row for row in ray.nodes() if row["Alive"]]
    task = ray.remote(work)
    running = {}
    for row in rows:
        there = strategies.NodeAffinitySchedulingStrategy(row["NodeID"], soft=False)
        bound = task.options(num_cpus=0, max_retries=0, scheduling_strategy=there)
        running[row["NodeID"]] = bound.remote(modules)
    results = []
    for row in rows:
        found: dict[str, Any] = {"node": row["NodeManagerAddress"]}
        try:
            left = max(0.0, deadline - time.monotonic())
            found.update(ray.get(running[row["NodeID"]], timeout=left))
        except Exception as error:  # noqa: BLE001 - whatever Ray raises is the answer
            found["error"] = f"{type(error).__name__}: {error}"
        results.append(found)
    json.dump(results, sys.stdout, sort_keys=True)
    sys.stdout.flush()
    ray.shutdown()


if __name__ == "__main__":
    main()
