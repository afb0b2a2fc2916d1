# revision: 2
"""Whether the GCS can be reached at ADDRESS, and what it knows: nodes, resources, placement groups, session; as JSON.

Arguments: ADDRESS ``tables`` | ``connect``. TCP connections are made to ADDRESS, and to the ports at which the raylets
of all living nodes listen. With ``tables`` more of what the GCS knows is told. It is the GCS that this node's own
raylet belongs to, wherever that is; without a raylet, the one at ADDRESS. It is asked as Ray's own ``ray status`` does,
without becoming a driver: no job is created, nothing is written.
"""

from __future__ import annotations

import importlib
import json
import socket
import sys
from pathlib import Path
from typing import Any

CONNECT_TIMEOUT_S = 3.0
PORTS = {"node manager": "NodeManagerPort", "object manager": "ObjectManagerPort"}


def connect(address: str) -> dict[str, Any]:
    """Whether the address accepts a TCP connection, and from which of this node's addresses it was made."""
    host, _, port = address.rpartition(":")
    try:
        with socket.create_connection((host, int(port)), timeout=CONNECT_TIMEOUT_S) as made:
            return {"reachable": True, "source": made.getsockname()[0]}
    except OSError as error:
        return {"reachable": False, "error": str(error)}


def state_of(address: str) -> Any:
    """Ray's reader of the tables of the GCS."""
    options = importlib.import_module("ray._raylet").GcsClientOptions
    state = importlib.import_module("ray._private.state").GlobalState()
    state._initialize_global_state(
        options.create(address, None, allow_cluster_id_nil=True, fetch_cluster_id_if_nil=False)
    )
    return state


def tables(state: Any) -> dict[str, Any]:
    """Nodes with total and free resources, placement groups, and the session's name."""
    ray = importlib.import_module("ray")
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


def raylets(state: Any) -> list[dict[str, Any]]:
    """Whether the ports of each living node's raylet accept a TCP connection; they are random unless chosen."""
    found = []
    for row in state.node_table():
        for role, key in PORTS.items() if row["Alive"] else ():
            address = "{}:{}".format(row["NodeManagerAddress"], row[key])
            found.append({"role": role, "address": address, **connect(address)})
    return found


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
    gcs = own_gcs() or address
    answer["gcs"] = {"address": gcs, **(answer["declared"] if gcs == address else connect(gcs))}
    try:
        state = state_of(gcs) if answer["gcs"]["reachable"] else None
    except ImportError as error:
        state, answer["problem"] = None, str(error)
    answer["raylets"] = raylets(state) if state else None
    if what == "tables":
        answer["tables"] = tables(state) if state else None
    json.dump(answer, sys.stdout, sort_keys=True)


if __name__ == "__main__":
    main()
