"""Processes that matter to a launch: which live, which are stopped, what they have read and computed."""

from __future__ import annotations

import os
import re
from typing import Any

from shakedown.launch.scripts.channel import Channel
from shakedown.launch.scripts.ports import Port

LOOK_ALL_S = 5.0
"""Between two looks at processes that were of no interest: they may have given themselves another name since."""

KINDS = (
    ("raylet", re.compile(rb"(?:[^\0]*/)?raylet\0")),
    ("gcs", re.compile(rb"(?:[^\0]*/)?gcs_server\0")),
    ("engine", re.compile(rb"\w+::EngineCore")),
    ("worker", re.compile(rb"\w+::Worker|ray::RayWorker")),
    ("server", re.compile(rb"\w+::APIServer|[^\0]*python[\d.]*\0(?:-[^\0]*\0)*(?:[^\0]*/)?vllm\0serve\0")),
    ("server", re.compile(rb"[^\0]*python[\d.]*\0(?:-\w\0)*-m\0vllm\.entrypoints\.")),
)
"""By command line, which vLLM and Ray replace by a title (``VLLM::EngineCore``, ``ray::RayWorkerProc``)."""

ENGINE = {"server", "engine", "worker"}
TICKS = os.sysconf("SC_CLK_TCK")

CHANGING = re.compile(rb"python|::|ray")
"""Command lines of processes that may take another title at any time: Ray's workers wait under one of their own."""

PLAIN_S = 60.0
"""Any other has become what it is after so long, and is not looked at again."""

KTHREADD = 2
"""Parent of all threads of the kernel, which never become anything else."""


class Processes:
    """Looks through ``/proc``; what it finds is sent when it changes.

    Args:
        channel: where it goes.
        port: whose listener is told; None where nobody asks.
    """

    def __init__(self, channel: Channel, port: int | None) -> None:
        self._channel = channel
        self._port = Port(port) if port is not None else None
        self._parents: dict[int, int] = {}
        self._kinds: dict[int, str] = {}
        self._plain: dict[int, float] = {}
        self._halted: dict[int, bool] = {}
        self._look_all_at = 0.0
        self._told: dict[str, Any] | None = None

    def changed(self) -> bool:
        """Whether one of those that matter has ended, or was stopped or resumed, since the last look."""
        for pid, halted in self._halted.items():
            stat = _stat(pid)
            if not stat or stat[0] in "ZX" or (stat[0] == "T") is not halted:
                return True
        return False

    def look(self, now: float, wall: float) -> dict[str, float]:
        """Tell what has changed; what the engine's processes have read (bytes) and computed (s) so far."""
        self._meet_all(now)
        engine = self._engine()
        stats = {pid: _stat(pid) for pid in engine | self._kinds.keys()}
        living = {pid: stat for pid, stat in stats.items() if stat and stat[0] not in "ZX"}
        for pid in self._kinds.keys() - living.keys():
            del self._kinds[pid]
        self._halted = {pid: stat[0] == "T" for pid, stat in living.items() if pid in self._kinds}
        self._tell(now, wall, {pid for pid, halted in self._halted.items() if halted})
        return _used([stat for pid, stat in living.items() if pid in engine], engine)

    def _meet_all(self, now: float) -> None:
        """Those that are new, and from time to time the others: they may have a new name."""
        alive = {int(name) for name in os.listdir("/proc") if name.isdigit()}
        again = now >= self._look_all_at
        if again:
            self._look_all_at = now + LOOK_ALL_S
        self._plain = {pid: met for pid, met in self._plain.items() if pid in alive}
        self._parents = {
            pid: parent
            for pid, parent in self._parents.items()
            if pid in alive and (not again or now - self._plain.get(pid, now) > PLAIN_S)
        }
        for pid in alive - self._parents.keys():
            stat = _stat(pid)
            if stat:
                self._parents[pid] = int(stat[1])
                self._name(pid, int(stat[1]), now)

    def _name(self, pid: int, parent: int, now: float) -> None:
        command = b"" if parent == KTHREADD else _read(f"/proc/{pid}/cmdline") + b"\0"
        if CHANGING.search(command):
            self._plain.pop(pid, None)
        else:
            self._plain.setdefault(pid, now)
        kind = next((kind for kind, pattern in KINDS if pattern.match(command)), None)
        if kind:
            self._kinds[pid] = kind
        elif not CHANGING.search(command):
            self._kinds.pop(pid, None)  # else its title is being rewritten, and it is what it was

    def _engine(self) -> set[int]:
        """The engine's processes and all that descend from them: compilers work for it, too."""
        found = {pid for pid, kind in self._kinds.items() if kind in ENGINE}
        while True:
            children = {pid for pid, parent in self._parents.items() if parent in found} - found
            if not children:
                return found
            found |= children

    def _tell(self, now: float, wall: float, stopped: set[int]) -> None:
        alive: dict[str, list[int]] = {}
        for pid in sorted(self._kinds):
            alive.setdefault(self._kinds[pid], []).append(pid)
        owner = self._port.owner(now, self._parents) if self._port else None
        told = {"alive": alive, "stopped": sorted(stopped), "owner": owner}
        if told != self._told:
            self._told = told
            self._channel.send("procs", at=wall, **told)


def _stat(pid: int) -> list[str] | None:
    """Fields of ``/proc/PID/stat`` from the state on; None if there is no such process."""
    text = _read(f"/proc/{pid}/stat").decode(errors="replace")
    return text.rpartition(")")[2].split() if text else None


def _used(stats: list[list[str]], pids: set[int]) -> dict[str, float]:
    used = {"CPU": sum(int(ticks) for stat in stats for ticks in stat[11:15]) / TICKS}
    read = [int(count) for pid in pids for count in re.findall(rb"(?m)^read_bytes: (\d+)", _read(f"/proc/{pid}/io"))]
    return {**used, "READ": sum(read)} if read or not pids else used


def _read(path: str) -> bytes:
    try:
        with open(path, "rb", buffering=0) as file:
            return file.read()
    except OSError:
        return b""
