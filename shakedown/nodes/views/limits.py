"""What the place where Ray and the engine run allows them: shared memory, locked memory, memory of the cgroup."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from shakedown.errors import EvidenceError
from shakedown.inventory.model import Deployment, Node
from shakedown.nodes.answer import Command, Place
from shakedown.nodes.procfs import each_process
from shakedown.nodes.views.base import View

_SHM = Command("df -P -B1 /dev/shm", Place.ENGINE)

_LOCKED = Command(
    "sed -n 's/^Max locked memory *\\([^ ]*\\).*/new \\1/p' /proc/self/limits\n"
    + each_process(["raylet"], """sed -n "s/^Max locked memory *\\([^ ]*\\).*/raylet \\1/p" "$process/limits\""""),
    Place.ENGINE,
    key="locked memory: limits",
)

# From a process's own cgroup up to the root, in both versions of cgroups; what is not there limits nothing.
_CGROUP = Command(
    """
limits() { # of the hierarchy mounted at $1, from the group $2 upwards, the file $3
    group=$2
    while :; do
        cat "$1$group/$3" 2>/dev/null
        case $group in ''|/) break ;; esac
        group=${group%/*}
    done
}
limits /sys/fs/cgroup "$(sed -n 's/^0:://p' /proc/self/cgroup)" memory.max
limits /sys/fs/cgroup/memory "$(sed -n 's/^[0-9]*:memory://p' /proc/self/cgroup)" memory.limit_in_bytes
true
""",
    Place.ENGINE,
    key="cgroup: limits of memory",
)

UNLIMITED = 2**63 - 2**16
"""From here on a limit of cgroups version 1 is none: it says 2^63 rounded down to a page, of up to 64 KiB."""


@dataclass(frozen=True, slots=True)
class SharedMemory:
    """``/dev/shm``, bytes."""

    size: int
    available: int


@dataclass(frozen=True, slots=True)
class LockedMemory:
    """The soft limit of locked memory in bytes, None for unlimited.

    Attributes:
        new: of a process that is started there now.
        raylets: of each raylet, from which the ranks inherit it.
    """

    new: int | None
    raylets: tuple[int | None, ...]


class LimitsView(View):
    """Limits of processes there."""

    @classmethod
    def commands(cls, deployment: Deployment, node: Node) -> tuple[Command, ...]:  # noqa: ARG003 - same for all
        """One command a limit."""
        return (_SHM, _LOCKED, _CGROUP)

    @cached_property
    def shared(self) -> SharedMemory:
        """``/dev/shm``."""
        return parse_shm(self._text(_SHM))

    @cached_property
    def locked(self) -> LockedMemory:
        """Locked memory, which RDMA needs for each buffer that it registers."""
        return parse_locked(self._text(_LOCKED))

    @cached_property
    def cgroup(self) -> int | None:
        """Bytes that the processes there may hold; None where no cgroup limits them."""
        return parse_cgroup(self._text(_CGROUP))


def parse_shm(text: str) -> SharedMemory:
    """``df -P -B1`` -> shared memory.

    Raises:
        EvidenceError: no line of ``df``.
    """
    match = re.search(r"\s(\d+)\s+\d+\s+(\d+)\s+\d+%\s+/dev/shm\s*$", text)
    if not match:
        raise EvidenceError(f"`df` did not tell of a file system at /dev/shm: {text.strip().splitlines()[-1:]}")
    return SharedMemory(int(match[1]), int(match[2]))


def parse_locked(text: str) -> LockedMemory:
    """Lines ``new LIMIT`` and ``raylet LIMIT`` -> limits.

    Raises:
        EvidenceError: no limit of a new process.
    """
    rows = re.findall(r"^(new|raylet) (\d+|unlimited)$", text, re.MULTILINE)
    limits = [(who, None if limit == "unlimited" else int(limit)) for who, limit in rows]
    new = [limit for who, limit in limits if who == "new"]
    if not new:
        raise EvidenceError("the limit of locked memory was not told")
    return LockedMemory(new[0], tuple(limit for who, limit in limits if who == "raylet"))


def parse_cgroup(text: str) -> int | None:
    """Limits, one a line, ``max`` among them -> the lowest; None if there is none."""
    limits = [int(line) for line in text.split() if line.isdecimal()]
    return min((limit for limit in limits if limit < UNLIMITED), default=None)
