"""What a node is asked when a launch stands still there: who waits for whom, where the ranks are, what they were given.

Reading only. Everything is optional but the shell: an image of an engine need not have ``ss`` or ``py-spy``.
"""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor

from shakedown.errors import NodeUnreachableError
from shakedown.inventory.model import Deployment, Node
from shakedown.launch.placement import SECTION
from shakedown.launch.stall import Gathered
from shakedown.nodes.procfs import each_process
from shakedown.nodes.redact import redact
from shakedown.nodes.transport import Transport, machine_transport, transport_for
from shakedown.nodes.views.ray_cluster import ask_gcs

Gather = Callable[[Node], str]
"""Asks one node; returns sections, each under a line ``== TITLE``. Raises what a transport raises."""

LIMIT_S = 25.0
MOST_BYTES = 24_000

ON_MACHINE = r"""
echo '== waiting sockets'
if command -v ss >/dev/null; then ss -Htnp state syn-sent; else
    cat /proc/net/tcp /proc/net/tcp6 2>/dev/null | while read -r number local peer state rest; do
        [ "$state" != 02 ] || echo "hex $local $peer"
    done
fi
echo '== memory'
grep -E '^(MemTotal|MemAvailable|Cached|SwapFree):' /proc/meminfo
if command -v nvidia-smi >/dev/null; then
    echo '== gpu'
    timeout 5 nvidia-smi --query-gpu=utilization.gpu,utilization.memory,clocks.sm,power.draw --format=csv
fi
echo '== processes'
for process in /proc/[0-9]*; do
    words=$(tr '\0' ' ' <"$process/cmdline" 2>/dev/null | cut -c 1-120)
    case $words in *VLLM::*|*vllm*|*ray::*) ;; *) continue ;; esac
    state=$(sed 's/.*) //; s/ .*//' "$process/stat" 2>/dev/null)
    echo "${process#/proc/} $state $(cat "$process/wchan" 2>/dev/null) $words"
done
"""

_GIVEN = (
    "echo '== environment of ray'\n"
    + each_process(
        ["raylet"],
        "tr '\\0' '\\n' <\"$process/environ\" 2>/dev/null"
        " | grep -E '^(VLLM_HOST_IP|GLOO_SOCKET_IFNAME|NCCL_SOCKET_IFNAME|NCCL_IB_HCA|NCCL_IB_GID_INDEX)='"
        ' || [ -r "$process/environ" ] || echo "not readable"\n'
        "    tr '\\0' '\\n' <\"$process/cmdline\" | grep -E '^--node_ip_address='",
    )
    + "true\n"
)

IN_ENGINE = (
    _GIVEN
    + r"""
if command -v ncclras >/dev/null; then echo '== nccl ras'; timeout 5 ncclras -v; fi
if command -v py-spy >/dev/null; then
    echo '== stacks'
    for process in /proc/[0-9]*; do
        words=$(tr '\0' ' ' <"$process/cmdline" 2>/dev/null) || continue
        case $words in *EngineCore*|*RayWorker*|*VLLM::Worker*) ;; *) continue ;; esac
        timeout 8 py-spy dump --nonblocking --pid "${process#/proc/}" 2>&1 | head -n 25
    done
fi
true
"""
)


def gatherer(deployment: Deployment) -> Gather:
    """Asks the nodes of that deployment over their own transports."""

    def gather(node: Node) -> str:
        asked = _asked(machine_transport(node), ON_MACHINE) + _asked(transport_for(node, deployment), IN_ENGINE)
        if node.role == "head":
            cluster = f"echo '== {SECTION}'; {ask_gcs(deployment, node).text}"
            asked += "\n" + _asked(transport_for(node, deployment), cluster)
        return asked

    return gather


def gather_all(nodes: Iterable[Node], gather: Gather, now: Callable[[], float]) -> tuple[Gathered, ...]:
    """Ask all nodes at once; one that cannot be asked says why."""
    nodes = tuple(nodes)

    def ask(node: Node) -> Gathered:
        try:
            text = gather(node)
        except (NodeUnreachableError, OSError, subprocess.SubprocessError) as error:
            text = f"== not reached\n{error}\n"
        return Gathered(node.name, now(), text)

    with ThreadPoolExecutor(max_workers=max(1, len(nodes))) as pool:
        return tuple(pool.map(ask, nodes))


def _asked(transport: Transport, script: str) -> str:
    done = subprocess.run(
        transport.argv(f"exec timeout {LIMIT_S:.0f} sh -c {shlex.quote(script)}"),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        stdin=subprocess.DEVNULL,
        timeout=LIMIT_S + 10,
        check=False,
    )
    return redact(done.stdout[:MOST_BYTES]).decode(errors="replace")
