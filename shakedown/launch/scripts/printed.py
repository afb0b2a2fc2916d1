"""What a container's first process prints, as its engine has kept it."""

from __future__ import annotations

import calendar
import time
from collections.abc import Mapping
from typing import Any

from shakedown.launch.scripts.channel import Channel
from shakedown.launch.scripts.children import Child
from shakedown.launch.scripts.docker import Container
from shakedown.launch.scripts.sieve import Sieve
from shakedown.launch.scripts.tails import LAST, SIFTED_AT_ONCE

AGAIN_S = 2.0

MOST_LINES = 500_000
"""Of what was printed before. A start prints some thousands; docker itself gives out about 100,000 a second."""

SETTLE_S = 0.3
"""So long without a byte, and all that was printed before is there."""


class Printed:
    """Follows ``docker logs``; every line has the engine's own stamp.

    Args:
        channel: where it goes.
        sieve: for what was printed before.
        stream: which log it is.
        container: whose.
        position: ``stamp`` of the last line that the other side has, and how many lines with it.
    """

    def __init__(
        self, channel: Channel, sieve: Sieve, stream: str, container: Container, position: Mapping[str, Any] | None
    ) -> None:
        self._channel = channel
        self._sieve = sieve
        self._stream = stream
        self._container = container
        self._stamp: str = position["stamp"] if position else ""
        self._count: int = position["count"] if position else 0
        self._skip = 0
        self._sifts = not position
        self._began = self._at = time.time()
        self._waiting = b""
        self._child: Child | None = None
        self._heard = self._again_at = 0.0
        self._speaks = False
        self._why: str | None = ""

    def poll(self, now: float) -> bool:
        """Send what was printed, or a part of it; whether there is more."""
        if self._child is None:
            if now >= self._again_at and (self._container.running or not self._stamp):
                self._start(now)
            return False
        data = self._child.gather(SIFTED_AT_ONCE) if self._sifts else self._child.read()
        self._waiting += data
        if data:
            self._heard = now
        settled = self._child.ended or self._reaches_now() or (not data and now - self._heard > SETTLE_S)
        if self._sifts:
            early = self._take(len(self._waiting) - LAST)
            self._send(self._sieve.sift(early))
            self._sifts = not settled
        if not self._sifts:
            self._send(self._take(len(self._waiting)))
        if self._child.ended:
            self._end(self._child)
        return bool(data)

    def close(self) -> None:
        """End what was started."""
        if self._child:
            self._child.close()

    def _start(self, now: float) -> None:
        self._again_at = now + AGAIN_S
        since = f"--since={self._stamp}" if self._stamp else f"--tail={MOST_LINES}"
        self._skip = self._count
        self._speaks = False
        self._heard = now
        try:
            self._child = Child(["docker", "logs", "--timestamps", "--follow", since, self._container.name])
        except OSError as error:
            self._tell(str(error))

    def _end(self, child: Child) -> None:
        child.close()
        self._send(self._waiting)
        self._child = None
        self._waiting = b""

    def _reaches_now(self) -> bool:
        """Whether the last line that waits was printed since this follower began."""
        last = self._waiting[self._waiting.rfind(b"\n", 0, -1) + 1 :][:40] if self._sifts else b""
        at = seconds(last.decode(errors="replace").partition(" ")[0])
        return at is not None and at >= self._began

    def _take(self, end: int) -> bytes:
        """Whole lines among the first bytes that wait."""
        whole = self._waiting.rfind(b"\n", 0, max(0, end)) + 1
        taken, self._waiting = self._waiting[:whole], self._waiting[whole:]
        return taken

    def _send(self, text: bytes) -> None:
        rows = [row for row in map(self._row, text.split(b"\n")) if row]
        if rows:
            self._tell(None)
            self._channel.send(
                "rows",
                s=self._stream,
                f=f"docker logs {self._container.name}",
                key="printed",
                pos={"stamp": self._stamp, "count": self._count},
                old=self._at < self._began,
                rows=rows,
            )

    def _row(self, line: bytes) -> tuple[float, str] | None:
        stamp, _, text = line.decode(errors="replace").partition(" ")
        at = seconds(stamp)
        if at is None:
            return self._unstamped(line.decode(errors="replace"))
        self._speaks = True
        if stamp == self._stamp and self._skip:
            self._skip -= 1
            return None
        self._count = self._count + 1 if stamp == self._stamp else 1
        self._stamp, self._at, self._skip = stamp, at, 0
        return at, text

    def _unstamped(self, text: str) -> tuple[float, str] | None:
        """The rest of a long line; before any other line, a complaint of docker's own."""
        if self._speaks and text:
            return self._at, text
        if text:
            self._tell(text)
        return None

    def _tell(self, why: str | None) -> None:
        if why != self._why:
            self._why = why
            self._channel.send("open", s=self._stream, f=f"docker logs {self._container.name}", why=why)


def seconds(stamp: str) -> float | None:
    """A stamp as docker writes it (``2026-12-01T12:00:00.123456789Z``) as seconds since the epoch."""
    try:
        whole = calendar.timegm(time.strptime(stamp[:19], "%Y-%m-%dT%H:%M:%S"))
        return whole + float(stamp[19:].rstrip("Z") or 0)
    except ValueError:
        return None
