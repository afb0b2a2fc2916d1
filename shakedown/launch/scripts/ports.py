"""Who listens on a port, found without asking the port."""

from __future__ import annotations

import os
from collections.abc import Iterable

LISTENING = "0A"

LOOK_S = 5.0
"""Between two looks at the table of sockets: the kernel takes milliseconds for it, however few there are."""

UNSEEN = "a process that cannot be seen from here"


class Port:
    """The listener of one port of this network namespace.

    Args:
        number: of the port.
    """

    def __init__(self, number: int) -> None:
        self._number = number
        self._inode = ""
        self._held = ""
        self._owner = ""
        self._look_at = 0.0

    def owner(self, now: float, processes: Iterable[int]) -> str:
        """``python3 (1234)``, "" for nobody.

        Args:
            now: the monotonic clock.
            processes: ids of all that live.
        """
        if self._held and _link(self._held) == f"socket:[{self._inode}]":
            return self._owner
        if self._held or now >= self._look_at:
            self._look_at = now + LOOK_S
            self._find(processes)
        return self._owner

    def _find(self, processes: Iterable[int]) -> None:
        self._inode = _listener(self._number)
        self._held = _holder(f"socket:[{self._inode}]", processes) if self._inode else ""
        self._owner = UNSEEN if self._inode else ""
        if self._held:
            pid = self._held.split("/")[2]
            self._owner = f"{_text(f'/proc/{pid}/comm').strip()} ({pid})"


def _listener(port: int) -> str:
    """Inode of the socket that listens there, "" for none."""
    suffix = f":{port:04X}"
    for table in ("tcp", "tcp6"):
        for line in _text(f"/proc/net/{table}").splitlines()[1:]:
            fields = line.split()
            if fields[3] == LISTENING and fields[1].endswith(suffix):
                return fields[9]
    return ""


def _holder(target: str, processes: Iterable[int]) -> str:
    """The descriptor that is that socket, as a path in ``/proc``; "" where none can be seen."""
    for pid in sorted(processes, reverse=True):
        folder = f"/proc/{pid}/fd"
        try:
            descriptors = os.listdir(folder)
        except OSError:
            continue
        for descriptor in descriptors:
            if _link(f"{folder}/{descriptor}") == target:
                return f"{folder}/{descriptor}"
    return ""


def _link(path: str) -> str:
    try:
        return os.readlink(path)
    except OSError:
        return ""


def _text(path: str) -> str:
    try:
        with open(path, errors="replace") as file:
            return file.read()
    except OSError:
        return ""
