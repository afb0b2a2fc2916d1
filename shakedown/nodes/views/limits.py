"""What the place where Ray and the engine run allows them: shared memory, locked memory, memory of the cgroup."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from shakedown.errors import EvidenceError
from shakedown.inventory.model import Deployment, Node
from shakedown.nodes import login
from shakedown.nodes.answer import Command, Place
from shakedown.nodes.procfs import each_process
from shakedown.nodes.views.base import View

_SHM = Command("df -P -B1 /dev/shm", Place.ENGINE)

# A line: whose, the soft limit, the effective capabilities, and how many users its user namespace knows.
_TELL = r"""
tell() { # of the process with the folder $2, called $1
    limit=$(sed -n 's/^Max locked memory *\([^ ]*\).*/\1/p' "$2/limits")
    capabilities=$(sed -n 's/^CapEff:[[:space:]]*//p' "$2/status")
    read -r _ _ users <"$2/uid_map"
    [ -z "$limit" ] || printf '%s %s %s %s\n' "$1" "$limit" "$capabilities" "${users:-0}"
}
tell new "$session"
"""
_LOCKED = _TELL + each_process(["raylet"], 'tell raylet "$process"') + "true\n"

CAP_IPC_LOCK = 1 << 14
"""A process that has it may lock any amount; `--privileged` and `--cap-add IPC_LOCK` give it. See capabilities(7)."""

ALL_USERS = 2**32 - 1
"""Users of the first user namespace; in any other a capability lifts no limit."""

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
    """How much memory may be locked, bytes: the soft limit; None where there is none, or a capability lifts it.

    Attributes:
        new: of a process that is started there now.
        raylets: of each raylet, from which the ranks inherit it.
    """

    new: int | None
    raylets: tuple[int | None, ...]


class LimitsView(View):
    """Limits of processes there."""

    @classmethod
    def commands(cls, deployment: Deployment, node: Node) -> tuple[Command, ...]:
        """One command a limit."""
        return (_SHM, _locked(deployment, node), _CGROUP)

    @cached_property
    def shared(self) -> SharedMemory:
        """``/dev/shm``."""
        return parse_shm(self._text(_SHM))

    @cached_property
    def locked(self) -> LockedMemory:
        """Locked memory, which RDMA needs for each buffer that it registers."""
        return parse_locked(self._text(_locked(self._deployment, self._node)))

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


def _locked(deployment: Deployment, node: Node) -> Command:
    return Command(
        login.with_session(_LOCKED, deployment, node), Place.ENGINE, key="locked memory: limits, capabilities"
    )


def parse_locked(text: str) -> LockedMemory:
    """Lines ``new|raylet LIMIT CAPABILITIES USERS`` -> how much each may lock.

    Raises:
        EvidenceError: no limit of a new process.
    """
    rows = re.findall(r"^(new|raylet) (\d+|unlimited) ([0-9a-f]+) (\d+)$", text, re.MULTILINE)
    may = [(who, _may_lock(limit, int(capabilities, 16), int(users))) for who, limit, capabilities, users in rows]
    new = [amount for who, amount in may if who == "new"]
    if not new:
        raise EvidenceError("the limit of locked memory was not told")
    return LockedMemory(new[0], tuple(amount for who, amount in may if who == "raylet"))


def _may_lock(limit: str, capabilities: int, users: int) -> int | None:
    lifted = capabilities & CAP_IPC_LOCK and users == ALL_USERS
    return None if limit == "unlimited" or lifted else int(limit)


def parse_cgroup(text: str) -> int | None:
    """Limits, one a line, ``max`` among them -> the lowest; None if there is none."""
    limits = [int(line) for line in text.split() if line.isdecimal()]
    return min((limit for limit in limits if limit < UNLIMITED), default=None)
