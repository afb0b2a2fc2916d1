# revision: 1
"""One rank of a small collective, in the environment that a worker of the engine would have; the outcome as JSON.

Arguments: seconds, rank, number of ranks, the head's fabric address, a port, a backend (``gloo`` or ``nccl``), and then
variables (``NAME=VALUE``) that stand in where no raylet runs. Where one runs, its environment is taken: the workers
that Ray starts inherit it, and nothing else.

The ranks first meet at the address that is declared, where rank 0 tells which one the engine would take; then they form
the group there, as the engine does, and add up their ranks. The rank is a process of its own, so that it can be ended
and its last words be kept.
"""

from __future__ import annotations

import importlib
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from datetime import timedelta
from pathlib import Path

PUBLIC = ("8.8.8.8", 80)
"""What vLLM connects a UDP socket to when VLLM_HOST_IP is not set; no packet is sent."""

TAIL_LINES = 6
TAIL_WIDTH = 300
LAST_WORDS = {"NCCL_DEBUG": "INFO", "NCCL_DEBUG_FILE": "/dev/stderr"}
"""So that NCCL says what it does, where that is kept; what is set already stays."""

START_S = 20.0
"""What a rank may take beside waiting: torch is imported in 3 s on an idle machine."""


def own_address() -> str:
    """The address that vLLM takes for this node's own: VLLM_HOST_IP, else that of the default route."""
    if os.environ.get("VLLM_HOST_IP"):
        return os.environ["VLLM_HOST_IP"]
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(PUBLIC)
        return str(probe.getsockname()[0])


def free_port() -> int:
    """A port that nobody has; the engine takes one in the same way."""
    with socket.socket() as probe:
        probe.bind(("", 0))
        return int(probe.getsockname()[1])


def tell(**facts: object) -> None:
    """One more line of the outcome; the last line of a kind counts."""
    sys.stdout.write(json.dumps(facts) + "\n")
    sys.stdout.flush()


def run_rank(limit_s: float, rank: int, ranks: int, meeting: str, port: int, backend: str) -> None:
    """Be one rank; every step that was taken is told."""
    torch = importlib.import_module("torch")
    distributed = importlib.import_module("torch.distributed")
    limit = timedelta(seconds=limit_s)
    tell(step="meet at the declared address", address=own_address())
    store = distributed.TCPStore(meeting, port, ranks, is_master=rank == 0, timeout=limit)
    if rank == 0:
        store.set("init", f"tcp://{own_address()}:{free_port()}")
    init = store.get("init").decode()
    tell(step="form the group", init=init)
    distributed.init_process_group(backend, init_method=init, rank=rank, world_size=ranks, timeout=limit)
    tell(step="add up")
    device = "cuda" if backend == "nccl" else "cpu"
    value = torch.full((1 << 18,), float(rank), device=device)
    distributed.all_reduce(value)
    total = float(value[0].item())
    tell(total=total, expected=float(sum(range(ranks))))
    distributed.barrier()
    tell(step="done")
    distributed.destroy_process_group()


def raylet_environment() -> dict[str, str] | None:
    """The environment of the raylet that runs here; None if none does.

    Raises:
        PermissionError: it belongs to another user.
    """
    for name in Path("/proc").glob("[0-9]*/comm"):
        try:
            if name.read_text().strip() != "raylet":
                continue
        except OSError:
            continue
        pairs = (name.parent / "environ").read_bytes().split(b"\0")
        return dict(os.fsdecode(pair).partition("=")[::2] for pair in pairs if b"=" in pair)
    return None


def environment(declared: list[str]) -> dict[str, str]:
    """What the rank is given."""
    found = raylet_environment()
    if found is None:
        found = dict(variable.partition("=")[::2] for variable in declared) | dict(os.environ)
    return LAST_WORDS | found


def main() -> None:
    """Print the answer: the facts that the rank told, how it ended, and its last words."""
    limit_s, *rest = sys.argv[1:]
    arguments, declared = rest[:5], rest[5:]
    began = time.monotonic()
    with tempfile.TemporaryFile() as words:
        itself = sys.orig_argv[: 1 - len(sys.argv)]  # the interpreter and this text
        command = [*itself, "rank", limit_s, *arguments]
        rank = subprocess.Popen(command, env=environment(declared), stdout=subprocess.PIPE, stderr=words)
        try:
            said, _ = rank.communicate(timeout=float(limit_s) + START_S)
        except subprocess.TimeoutExpired:
            rank.kill()
            said, _ = rank.communicate()
        words.seek(0)
        lines = words.read().decode(errors="replace").splitlines()
        tail = [line for line in lines if line.strip(" ^~")][-TAIL_LINES:]  # carets point at nothing here
    facts: dict[str, object] = {}
    for line in said.decode(errors="replace").splitlines():
        if line.startswith("{"):
            facts.update(json.loads(line))
    facts.update(exit_code=rank.returncode, took_s=round(time.monotonic() - began, 3))
    facts["tail"] = [line[:TAIL_WIDTH] for line in tail]
    json.dump(facts, sys.stdout, sort_keys=True)


if __name__ == "__main__":
    if sys.argv[1] == "rank":
        run_rank(float(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]), sys.argv[5], int(sys.argv[6]), sys.argv[7])
    else:
        main()
