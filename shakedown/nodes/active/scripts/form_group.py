# revision: 2
"""One rank of a collective, in the environment that a worker of the engine would have; the outcome as JSON.

Arguments: seconds, rank, number of ranks, the head's fabric address, a port, a backend (``gloo`` or ``nccl``), sizes
in bytes that are to be timed (``8192,67108864``, or ``-`` for none), and then variables (``NAME=VALUE``): those that
come to a rank from elsewhere than its node. The rest is the environment of the raylet, which the workers that Ray
starts inherit, or, where none runs, of this process.

The ranks first meet at the address that is declared, where rank 0 tells which one the engine would take; then they form
the group there, as the engine does, and add up their ranks. The rank is a process of its own, so that it can be ended
and its last words be kept.
"""

from __future__ import annotations

import importlib
import json
import os
import re
import socket
import subprocess
import sys
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

PUBLIC = ("8.8.8.8", 80)
"""What vLLM connects a UDP socket to when VLLM_HOST_IP is not set; no packet is sent."""

TAIL_LINES = 6
TAIL_WIDTH = 300
LOUD = {"NCCL_DEBUG": "INFO", "NCCL_DEBUG_FILE": "/dev/stderr", "NCCL_DEBUG_SUBSYS": "INIT,NET"}
"""So that NCCL says what it takes, where that is kept: on a pipe, since it opens the file anew. It decides nothing."""

TRANSPORT = re.compile(r" NCCL INFO (.*(?:NET/\w+ : (?:Using|No device)|Using network |\bvia NET/).*)")
TRANSPORT_LINES = 60

SHARE = 8
"""One part in so many of the free memory is the most that a timed collective may take."""

SECONDS_EACH = 3.0
"""About how long one size is timed, and how long a single sum may take at the most to be timed at all."""

LARGE = 1 << 20
"""Bytes from which on a sum takes time by its size; before that it is the way there and back."""

MOST_ROUNDS = 20

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


def run_rank(
    limit_s: float, rank: int, ranks: int, meeting: str, port: int, backend: str, sizes: tuple[int, ...]
) -> None:
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
    timed: dict[str, float] = {}
    for size in sizes:
        tell(step=f"add up {size} bytes")
        seconds = time_sum(torch, distributed, device, size, timed)
        if seconds is None:
            break
        timed[str(size)] = seconds
        tell(timed=timed)
    distributed.barrier()
    tell(step="done")
    distributed.destroy_process_group()


def time_sum(torch: Any, distributed: Any, device: str, size: int, timed: dict[str, float]) -> float | None:
    """Seconds that a sum of so many bytes takes all ranks; None where it would take too much memory or time.

    Whether it would is agreed upon, or one rank would wait for others.
    """
    slowest = max((seconds * size / int(other) for other, seconds in timed.items() if int(other) >= LARGE), default=0.0)
    fits = size * SHARE <= free_bytes(torch, device) and slowest <= SECONDS_EACH
    if not agreed(torch, distributed, device, float(fits), "MIN"):
        return None
    value = torch.ones(size // 4, device=device)

    def run(rounds: int) -> float:
        distributed.barrier()
        began = time.monotonic()
        for _ in range(rounds):
            distributed.all_reduce(value, distributed.ReduceOp.MAX)  # stays 1, whatever the number of rounds
        if device == "cuda":
            torch.cuda.synchronize()
        return (time.monotonic() - began) / rounds

    first = agreed(torch, distributed, device, run(1), "MAX")
    rounds = max(1, min(MOST_ROUNDS, int(SECONDS_EACH / first)))
    return agreed(torch, distributed, device, run(rounds), "MAX")


def agreed(torch: Any, distributed: Any, device: str, number: float, how: str) -> float:
    """The least or the greatest of the numbers of all ranks."""
    value = torch.tensor([number], dtype=torch.float64, device=device)
    distributed.all_reduce(value, getattr(distributed.ReduceOp, how))
    return float(value.item())


def free_bytes(torch: Any, device: str) -> int:
    """Memory that could be taken: of the GPU, and of the machine, which may be one and the same."""
    meminfo = Path("/proc/meminfo").read_text()
    found = re.search(r"^MemAvailable:\s+(\d+) kB", meminfo, re.MULTILINE)
    machine = int(found[1]) * 1024 if found else 0
    return min(machine, int(torch.cuda.mem_get_info()[0])) if device == "cuda" else machine


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


def environment(given: list[str]) -> dict[str, str]:
    """What the rank is given."""
    found = raylet_environment()
    inherited = dict(os.environ) if found is None else found
    return inherited | dict(variable.partition("=")[::2] for variable in given) | LOUD


def transport(words: list[str]) -> list[str]:
    """What NCCL said of its way to the peers, each line once."""
    said = (found[1] for line in words if (found := TRANSPORT.search(line)))
    return [line.strip()[:TAIL_WIDTH] for line in dict.fromkeys(said)][:TRANSPORT_LINES]


def last_words(words: list[str]) -> list[str]:
    """The end of what was said, half of it kept for what is no chatter of NCCL: an error stands above that."""
    spoken = [line for line in words if line.strip(" ^~")]  # carets point at nothing here
    half = TAIL_LINES // 2
    kept = set(range(len(spoken))[-half:])
    kept.update([number for number, line in enumerate(spoken) if " NCCL INFO " not in line][-half:])
    return [spoken[number][:TAIL_WIDTH] for number in sorted(kept)]


def main() -> None:
    """Print the answer: the facts that the rank told, how it ended, NCCL's way to the peers, and its last words."""
    limit_s, *rest = sys.argv[1:]
    arguments, given = rest[:6], rest[6:]
    began = time.monotonic()
    itself = sys.orig_argv[: 1 - len(sys.argv)]  # the interpreter and this text
    command = [*itself, "rank", limit_s, *arguments]
    rank = subprocess.Popen(command, env=environment(given), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        said, words = rank.communicate(timeout=float(limit_s) + START_S)
    except subprocess.TimeoutExpired:
        rank.kill()
        said, words = rank.communicate()
    lines = words.decode(errors="replace").splitlines()
    facts: dict[str, object] = {}
    for line in said.decode(errors="replace").splitlines():
        if line.startswith("{"):
            facts.update(json.loads(line))
    facts.update(exit_code=rank.returncode, took_s=round(time.monotonic() - began, 3))
    facts.update(nccl=transport(lines), tail=last_words(lines))
    json.dump(facts, sys.stdout, sort_keys=True)


def sizes_of(text: str) -> tuple[int, ...]:
    """Sizes in bytes, as they are given."""
    return () if text == "-" else tuple(map(int, text.split(",")))


if __name__ == "__main__":
    if sys.argv[1] == "rank":
        limit, number, count, meeting, port, backend, sizes = sys.argv[2:]
        run_rank(float(limit), int(number), int(count), meeting, int(port), backend, sizes_of(sizes))
    else:
        main()
