"""Processes of this machine, told apart from later ones that get the same number."""

from __future__ import annotations

import os
import select
import signal
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")
_STATE = 0  # index in /proc/PID/stat after the command name
_STARTED = 19


@dataclass(frozen=True, slots=True)
class Process:
    """A process: its number and its start time.

    Attributes:
        pid: its number in the PID namespace whose ``/proc`` is asked.
        started: clock ticks between boot and its start, field 22 of ``/proc/PID/stat``.
    """

    pid: int
    started: int

    def alive(self, proc: Path = PROC) -> bool:
        """True while this very process runs; a zombie does not."""
        return find(self.pid, proc) == self


def find(pid: int, proc: Path = PROC) -> Process | None:
    """The process that has this number now, or None if there is none or only its zombie."""
    try:
        text = (proc / str(pid) / "stat").read_text()
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return None
    fields = text.rpartition(")")[2].split()
    return None if fields[_STATE] in "ZX" else Process(pid, int(fields[_STARTED]))


def myself() -> Process:
    """The calling process."""
    found = find(os.getpid())
    assert found is not None  # whoever asks is running
    return found


def children(pid: int) -> list[int]:
    """Numbers of the children of a process; empty when it is gone."""
    found: list[int] = []
    for task in (PROC / str(pid) / "task").glob("*/children"):
        try:
            found += [int(word) for word in task.read_text().split()]
        except (FileNotFoundError, ProcessLookupError):
            continue
    return found


def kill(process: Process, timeout_s: float = 20.0) -> bool:
    """End a process with SIGKILL and wait until it is gone; True if it is.

    The handle is taken before the start time is compared, so that the signal cannot hit a successor.
    """
    try:
        handle = os.pidfd_open(process.pid)
    except ProcessLookupError:
        return True
    try:
        if not process.alive():
            return True
        signal.pidfd_send_signal(handle, signal.SIGKILL)
        poll = select.poll()
        poll.register(handle, select.POLLIN)
        return bool(poll.poll(timeout_s * 1000))
    finally:
        os.close(handle)
