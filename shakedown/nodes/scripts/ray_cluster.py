# revision: 1
"""Whether the GCS can be reached at ADDRESS, and what it knows: nodes, resources, placement groups, session; as JSON.

Arguments: ADDRESS ``tables`` | ``connect``. With ``connect`` only a TCP connection is made. The tables are those of the
GCS that this node's own raylet belongs to, wherever that is; without a raylet, of the one at ADDRESS. They are read as
Ray's own ``ray status`` does, without becoming a driver: no job is created, nothing is written.
"""

from __future__ import annotations

import importlib
import json
import socket
import sys
from pathlib import Path
from typing import Any

CONNECT_TIMEOUT_S = 3.0


def connect(address: str) -> dict[str, Any]:
    """Whether the address accepts a TCP connection, and from which of this node's addresses it was made."""
    host, _, port = address.rpartition(":")
    try:
        with socket.create_connection((host, int(port)), timeout=CONNECT_TIMEOUT_S) as made:
            return {"reachable": True, "source": made.getsockname()[0]}
    except OSError as error:
        return {"reachable": False, "error": str(error)}


def tables(address: str) -> dict[str, Any]:
    """Nodes with total and free resources, placement groups, and the session's name."""
    ray = importlib.import_module("ray")
    options = importlib.import_module("ray._raylet").GcsClientOptions
    state = importlib.import_module("ray._private.state").GlobalState()
    state._initialize_global_state(
        options.create(address, None, allow_cluster_id_nil=True, fetch_cluster_id_if_nil=False)
    )
    free = state.available_resources_per_node()
    session = state._connect_and_get_accessor().get_internal_kv(b"session", b"session_name")
    return {
        "ray": ray.__version__,
        "nodes": [_node(row, free.get(row["NodeID"], {})) for row in state.node_table()],
        "groups": [
            {"id": group["placement_group_id"], "state": group["state"], "bundles": list(group["bundles"].values())}
            for group in state.placement_group_table().values()
        ],
        "session": session.decode() if session else None,
    }


def _node(row: dict[str, Any], free: dict[str, float]) -> dict[str, Any]:
    return {
        "id": row["NodeID"],
        "alive": bool(row["Alive"]),
        "address": row["NodeManagerAddress"],
        "hostname": row["NodeManagerHostname"],
        "death": row.get("DeathReasonMessage") or "",
        "resources": dict(row["Resources"]),
        "available": dict(free),
    }


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


def main() -> None:
    """Print the answer."""
    address, what = sys.argv[1:3]
    answer: dict[str, Any] = {"declared": connect(address)}
    if what == "tables":
        gcs = own_gcs() or address
        answer["gcs"] = {"address": gcs, **connect(gcs)}
        answer["tables"] = tables(gcs) if answer["gcs"]["reachable"] else None
    json.dump(answer, sys.stdout, sort_keys=True)


if __name__ == "__main__":
    main()
