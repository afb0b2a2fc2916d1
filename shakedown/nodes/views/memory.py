"""Memory of one machine: what the kernel counts, what is paged out, and the processes that hold most."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from shakedown.errors import EvidenceError
from shakedown.inventory.model import Deployment, Node
from shakedown.nodes.answer import Command
from shakedown.nodes.views.base import View
from shakedown.units import gib

KIB = 1024

_MEMINFO = Command("cat /proc/meminfo")
_SWAPS = Command("cat /proc/swaps")
_SHOWN_KIB = 256 * KIB
_SHOWN_CHARACTERS = 200

# A process that ends meanwhile leaves no lines: `cat` goes on to the next.
_LARGEST = Command(
    f"""
found=$(cat /proc/[0-9]*/status 2>/dev/null | awk '
    $1 == "Name:" {{ name = $2; for (i = 3; i <= NF; i++) name = name " " $i }}
    $1 == "Pid:" {{ pid = $2 }}
    $1 == "VmRSS:" && $2 >= {_SHOWN_KIB} {{ print pid, $2, name }}') || exit
[ "$found" ] || exit 0
printf '%s\\n' "$found" | while read -r pid kib name; do
    command=$(tr '\\000-\\037' ' ' <"/proc/$pid/cmdline" | cut -c -{_SHOWN_CHARACTERS})
    printf '%s %s %s\\t%s\\n' "$pid" "$kib" "$name" "$command"
done 2>/dev/null
""",
    key="processes with more than 256 MiB",
)

EXPLAINED = ("AnonPages", "Shmem", "SUnreclaim", "KernelStack", "PageTables", "Percpu", "Mlocked", "HugePages_Used")
"""Of ``/proc/meminfo``: what programs and the kernel hold. What is neither this nor available belongs to a driver."""

OURS = re.compile(r"raylet|gcs_server|ray::|ray-|dashboard|VLLM|vllm|EngineCore|APIServer|python|pt_main_thread")
"""Names that processes of Ray and of the engine have, and others too: half the programs on such machines are Python."""

RAY_ITSELF = re.compile(r"^(?:raylet|gcs_server)\b|/ray/(?:dashboard|_private|autoscaler|core)/")
"""Name or command line of what Ray needs to run: no worker of a job, which is gone before another is launched."""


@dataclass(frozen=True, slots=True)
class Process:
    """A process by the memory it holds.

    Attributes:
        pid: on the node.
        name: as the kernel has it, at most 15 characters.
        resident: bytes, shared pages included; on unified memory the GPU's allocations are not among them.
        command: its command line, cut after 200 characters; empty where it has none.
    """

    pid: int
    name: str
    resident: int
    command: str = ""

    @property
    def is_ray(self) -> bool:
        """Whether Ray itself is it."""
        return bool(RAY_ITSELF.search(self.name) or RAY_ITSELF.search(self.command))

    def __str__(self) -> str:
        return f"{self.name} ({self.pid}, {gib(self.resident)}" + (f": {self.command})" if self.command else ")")


@dataclass(frozen=True, slots=True)
class Swap:
    """Swap of all devices together, bytes."""

    size: int
    used: int


class MemoryView(View):
    """What the kernel says about memory, in bytes."""

    @classmethod
    def commands(cls, deployment: Deployment, node: Node) -> tuple[Command, ...]:  # noqa: ARG003 - same for all
        """The kernel's account, swap, and the largest processes."""
        return (_MEMINFO, _SWAPS, _LARGEST)

    @cached_property
    def info(self) -> dict[str, int]:
        """All of ``/proc/meminfo`` in bytes."""
        return parse_meminfo(self._text(_MEMINFO))

    @property
    def total(self) -> int:
        """``MemTotal``, bytes."""
        return self._field("MemTotal")

    @property
    def free(self) -> int:
        """``MemFree``, bytes: what CUDA calls free where it shares this memory."""
        return self._field("MemFree")

    @property
    def available(self) -> int:
        """``MemAvailable``, bytes: what could be had without swapping, page cache included."""
        return self._field("MemAvailable")

    @property
    def shared(self) -> int:
        """``Shmem``, bytes: shared memory of processes, and files of tmpfs, which stay when nobody uses them."""
        return self.info.get("Shmem", 0)

    @property
    def unexplained(self) -> int:
        """Bytes that neither programs nor the kernel's own tables hold and that are not available: a driver's."""
        return max(0, self.total - self.available - sum(self.info.get(name, 0) for name in EXPLAINED))

    @cached_property
    def swap(self) -> Swap:
        """Swap as it is switched on."""
        return parse_swaps(self._text(_SWAPS))

    @cached_property
    def largest(self) -> tuple[Process, ...]:
        """Processes of more than 256 MiB, the largest first."""
        return parse_processes(self._text(_LARGEST))

    def strangers(self, least: float) -> tuple[Process, ...]:
        """Processes of at least that many bytes that are none of Ray's own, whatever they are called."""
        return tuple(one for one in self.largest if one.resident >= least and not one.is_ray)

    def _field(self, name: str) -> int:
        if name not in self.info:
            raise EvidenceError(f"/proc/meminfo of {self._node.name} has no {name}")
        return self.info[name]


def parse_meminfo(text: str) -> dict[str, int]:
    """``/proc/meminfo`` -> bytes by name; counts without a unit stay counts."""
    found = re.findall(r"^(\S+):\s+(\d+)( kB)?$", text, re.MULTILINE)
    return {name: int(number) * (KIB if unit else 1) for name, number, unit in found}


def parse_swaps(text: str) -> Swap:
    """``/proc/swaps`` -> swap; only its head where there is none."""
    rows = re.findall(r"^\S+\s+(?:partition|file|virtual)\s+(\d+)\s+(\d+)", text, re.MULTILINE)
    return Swap(sum(int(size) for size, _ in rows) * KIB, sum(int(used) for _, used in rows) * KIB)


def parse_processes(text: str) -> tuple[Process, ...]:
    """Lines ``PID KIB NAME TAB COMMAND`` -> processes, the largest first; a line of another shape is none."""
    rows = (re.fullmatch(r"(\d+) (\d+) ([^\t]+)\t?(.*)", line) for line in text.splitlines())
    found = [Process(int(row[1]), row[3], int(row[2]) * KIB, row[4].strip()) for row in rows if row]
    return tuple(sorted(found, key=lambda process: -process.resident))
