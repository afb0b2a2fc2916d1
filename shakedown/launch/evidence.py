"""What was written and what ended since a launch began, and what the diagnosis makes of it.

A log may tell of many starts, and logs come in one after the other: so all lines that may matter are kept, and where it
shows that a start is a later one, the diagnosis begins anew with those that belong to it.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable
from math import inf

from shakedown.faults.diagnose import Diagnostician
from shakedown.faults.diagnosis import Diagnosis
from shakedown.faults.lines import LogLine
from shakedown.inventory.model import Deployment
from shakedown.launch.events import Stream
from shakedown.launch.lives import Ended

MOST_KEPT = 4000
"""Lines of each log; those of a launch that is under way."""

LAST_OF = (Stream.SERVE, Stream.RAYLET_OUT)
MOST_LAST = 3
LONGEST = 160
"""At a standstill the last lines of these logs are told, cut to so many letters."""

STOPPED = re.compile(r"\[shutdown\] API server: shutdown triggered|\bKeyboardInterrupt\b|^INFO: +Shutting down$")
"""What a server writes that somebody stopped: vLLM from 0.32 on, Python, uvicorn."""

STOPPED_CONTAINER = re.compile(r"^container \S+: (?:stop\b|kill, signal (?:2|15)\b)")
DIED_CONTAINER = re.compile(
    r"^container \S+: (?:die|status (?:exited|dead))\b(?:.*?exit code (?P<code>\d+))?(?P<rest>.*)"
)


class Evidence:
    """Lines and ends of processes of one launch.

    Args:
        deployment: whose.
        since: what is older belongs to another launch.
        owned: nobody but us may stop it: then a stop is a failure like any other.
    """

    def __init__(self, deployment: Deployment, since: float, *, owned: bool) -> None:
        self._deployment = deployment
        self._since = since
        self._owned = owned
        self._lines: dict[tuple[str, str, str], deque[LogLine]] = {}
        self._ended: list[Ended] = []
        self._lost: set[str] = set()
        self._diagnosis = self._new()
        self.stopped_at: float | None = None

    def feed(self, line: LogLine) -> None:
        """Take in a line."""
        if line.at < self._since:
            return
        self._lines.setdefault((line.node, line.stream, line.source), deque(maxlen=MOST_KEPT)).append(line)
        self._take(line)

    def ended(self, ended: Ended) -> None:
        """Take in that a process has ended, or gave way to another."""
        if ended.at < self._since:
            return
        self._ended.append(ended)
        if not any(ended is not one and ended.goes_with(one) for one in self._ended):
            self._diagnosis.exited(ended.kind, ended.node, ended.at, f"replaced by {ended.by[0]}" if ended.by else None)

    def lost(self, node: str) -> None:
        """Take in that a node cannot be followed any more."""
        self._lost.add(node)
        self._diagnosis.lost(node)

    def begin(self, at: float) -> None:
        """A start begins: what was written before is of another."""
        lines = [line for log in self._lines.values() for line in log]
        ended, self._ended = self._ended, []
        self._since, self._lines, self.stopped_at = at, {}, None
        self._diagnosis = self._new()
        for line in lines:
            self.feed(line)
        for one in ended:
            self.ended(one)

    def verdict(self, now: float, *, failed: bool = False) -> Diagnosis | None:
        """Why the launch has failed, None where nothing says so (yet); see `Diagnostician.verdict`."""
        return self._diagnosis.verdict(now, failed=failed)

    def last_lines(self, nodes: Iterable[str]) -> tuple[str, ...]:
        """The last lines of the logs that say most, of these nodes."""
        return tuple(
            f"{node}: {stream}: {line.text.strip()[:LONGEST]}"
            for name in nodes
            for (node, stream, _), lines in self._lines.items()
            if node == name and stream in LAST_OF
            for line in list(lines)[-MOST_LAST:]
        )

    def _new(self) -> Diagnostician:
        everywhere = (Stream.RAYLET_OUT.value,)
        expected: dict[str, tuple[str, ...]] = {node.name: everywhere for node in self._deployment.node}
        if self._deployment.serve.log:
            expected[self._deployment.head.name] = (Stream.SERVE.value, *everywhere)
        diagnosis = Diagnostician(self._deployment, since=self._since, expected=expected)
        for node in self._lost:
            diagnosis.lost(node)
        return diagnosis

    def _take(self, line: LogLine) -> None:
        container = line.stream == Stream.CONTAINER
        if (STOPPED_CONTAINER if container else STOPPED).search(line.text) and line.stream in (
            Stream.SERVE,
            Stream.CONTAINER,
        ):
            self.stopped_at = min(line.at, self.stopped_at if self.stopped_at is not None else inf)
            if not self._owned:
                self._diagnosis.stopping(line.at)
        self._diagnosis.feed(line)
        if container and (died := DIED_CONTAINER.match(line.text)):
            code = int(died["code"]) if died["code"] else None
            status = "OOMKilled" if "OOMKilled" in died["rest"] else code
            self._diagnosis.exited("container", line.node, line.at, status)
