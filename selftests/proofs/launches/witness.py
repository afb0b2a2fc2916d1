"""When was a line written? Seen by somebody else than the followers, whose delay is what is measured."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from shakedown.embedded.node import LOGS, RunningNode

EVERY_S = 0.05
_ANSI = re.compile(rb"\x1b\[[0-9;]*m")


class Witness(threading.Thread):
    """Notes how long each log of the nodes is, again and again, and so when each of its lines came into it."""

    def __init__(self, nodes: Sequence[RunningNode]) -> None:
        super().__init__(name="witness", daemon=True)
        self._nodes = nodes
        self._over = threading.Event()
        self._lengths: dict[Path, list[tuple[float, int]]] = {}

    def run(self) -> None:
        """Look until it is over."""
        while not self._over.wait(EVERY_S):
            for node in self._nodes:
                for file in _logs(node):
                    self._note(file)

    def stop(self) -> None:
        """Look no more."""
        self._over.set()
        self.join()

    def written(self, text: str) -> float | None:
        """When that line was first there in any log, seconds since the epoch; None where it is in none."""
        wanted = text.strip().encode()
        return min((at for file, seen in self._lengths.items() for at in _found(file, seen, wanted)), default=None)

    def _note(self, file: Path) -> None:
        try:
            size = file.stat().st_size
        except OSError:
            return
        seen = self._lengths.setdefault(file, [])
        if not seen or seen[-1][1] != size:
            seen.append((time.time(), size))


def _logs(node: RunningNode) -> Iterator[Path]:
    yield from node.file(LOGS).glob("*.log")
    for session in node.file(Path("/tmp/ray")).glob("session_2*/logs"):
        yield from (file for file in session.iterdir() if file.suffix in (".out", ".err", ".log"))


def _found(file: Path, seen: list[tuple[float, int]], wanted: bytes) -> Iterator[float]:
    try:
        data = file.read_bytes()
    except OSError:
        return
    end = 0
    for line in data.splitlines(keepends=True):
        end += len(line)
        if wanted in _ANSI.sub(b"", line):
            yield next((at for at, size in seen if size >= end), seen[-1][0])
            return
