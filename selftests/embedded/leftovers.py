"""Everything that a deployment consists of, so that a test can say that nothing of it is left."""

from __future__ import annotations

import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from shakedown.embedded.processes import PROC, Process, children, find
from shakedown.embedded.state import Record, StateFolder

KINDS = ("net", "mnt", "uts", "ipc", "pid")


@dataclass(frozen=True)
class Footprint:
    """Processes, namespaces and folder of one deployment, as this machine sees them."""

    processes: frozenset[Process]
    namespaces: frozenset[int]
    folder: Path

    @classmethod
    def of(cls, name: str) -> Footprint:
        """That of a deployment that stands or is being made."""
        folder = StateFolder(name)
        record = folder.read()
        assert record
        assert record.namespaces
        pids = _descendants(record.namespaces.pid)
        processes = frozenset(process for process in map(find, pids) if process)
        inside = {_namespace(process.pid, kind) for process in processes for kind in KINDS}
        ours = {_namespace("self", kind) for kind in KINDS}
        return cls(processes, frozenset(inside - ours - {0}), folder.path)

    def left(self) -> list[str]:
        """What of it is still there, in words."""
        alive = [f"process {process.pid}" for process in self.processes if process.alive()]
        known = subprocess.run(["lsns", "-n", "-o", "NS"], capture_output=True, text=True, check=True).stdout.split()
        spaces = [f"namespace {number}" for number in self.namespaces if str(number) in known]
        mounts = [line for line in (PROC / "self/mountinfo").read_text().splitlines() if str(self.folder) in line]
        files = [str(self.folder)] if self.folder.exists() else []
        return alive + spaces + mounts + files

    def wait_until_gone(self, limit_s: float = 20) -> None:
        """Fails when something is still there after a while."""
        end = time.monotonic() + limit_s
        while left := self.left():
            assert time.monotonic() < end, f"still there after {limit_s:g} s: {left}"
            time.sleep(0.1)


def wait_for_record(name: str, limit_s: float = 60) -> Record:
    """The record of a deployment once its nodes are there."""
    end = time.monotonic() + limit_s
    while True:
        record = StateFolder(name).read()
        if record and record.nodes and StateFolder(name).deployment_file.exists():
            return record
        assert time.monotonic() < end, "no nodes"
        time.sleep(0.05)


def links() -> set[str]:
    """Names of the network links of this machine."""
    return {path.name for path in Path("/sys/class/net").iterdir()}


def _descendants(pid: int) -> list[int]:
    return [pid, *(below for child in children(pid) for below in _descendants(child))]


def _namespace(pid: int | str, kind: str) -> int:
    """Inode of a namespace; 0 where the process is gone."""
    try:
        return (PROC / str(pid) / "ns" / kind).stat().st_ino
    except (FileNotFoundError, ProcessLookupError):
        return 0
