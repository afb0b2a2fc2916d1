"""The kernel's log, from the kernel or, where that is for root alone, from the journal."""

from __future__ import annotations

import os
import re
import time
from typing import Any

from shakedown.launch.scripts.channel import Channel
from shakedown.launch.scripts.children import Lines
from shakedown.launch.scripts.sieve import Sieve

DEVICE = "/dev/kmsg"
JOURNAL = "journalctl -k -f"
KEY = "kernel"
STREAM = "kernel log"

RECORD = 8192
"""Longest that the kernel gives out at once, bytes."""

LAST = 500
"""Lines at the end of what was there before that are sent whatever they say."""

AGAIN_S = 10.0

_STAMPED = re.compile(r"(\d+\.\d+) \S+ (?:kernel: )?(.*)")
_BLIND = "not seeing messages from other users and the system"
"""``journalctl`` says this to who may not read the system's journal, and waits for ever."""


class Kernel:
    """Follows whichever of the two can be read.

    Args:
        channel: where lines go.
        sieve: for what was there before.
        position: of the last line that the other side has: ``boot`` and ``sequence``, or ``at``.
    """

    def __init__(self, channel: Channel, sieve: Sieve, position: dict[str, Any] | None) -> None:
        self._channel = channel
        self._sieve = sieve
        self._position = position or {}
        self._boot = _boot()
        self._old = True
        self._journal: Lines | None = None
        self._again_at = 0.0
        self._why: str | None = None
        try:
            self._device: int | None = os.open(DEVICE, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
            self._tell(DEVICE, None)
        except OSError as error:
            self._device = None
            self._why = f"{DEVICE}: {error.strerror}"

    def poll(self, now: float) -> bool:
        """Send what is new."""
        if self._device is not None:
            self._send(DEVICE, self._records(self._device))
        elif self._journal:
            self._read_journal(self._journal, now)
        elif now >= self._again_at:
            self._start_journal(now)
        return False

    def close(self) -> None:
        """End what was started."""
        if self._journal:
            self._journal.child.close()

    def _records(self, device: int) -> list[tuple[float, str]]:
        """New records with their times. The kernel stamps with the time since boot, sleep not counted."""
        seen = self._position.get("sequence", -1) if self._position.get("boot") == self._boot else -1
        booted = time.time() - time.monotonic()
        rows: list[tuple[float, str]] = []
        while len(rows) < 10 * LAST:
            try:
                record = os.read(device, RECORD)
            except BrokenPipeError:
                continue  # overwritten before it was read; the next is there
            except OSError:
                break
            head, _, text = record.partition(b";")
            _, sequence, microseconds, *_ = head.split(b",")
            if int(sequence) > seen:
                self._position = {"boot": self._boot, "sequence": int(sequence)}
                rows.append((booted + int(microseconds) / 1e6, text.partition(b"\n")[0].decode(errors="replace")))
        return rows

    def _start_journal(self, now: float) -> None:
        self._again_at = now + AGAIN_S
        since = [f"--since=@{self._position['at']:.6f}"] if "at" in self._position else [f"--lines={LAST}"]
        try:
            self._journal = Lines([*JOURNAL.split(), "--output=short-unix", "--no-pager", *since])
            self._tell(JOURNAL, None)
        except OSError as error:
            self._tell(JOURNAL, f"{self._why}; and the journal: {error.strerror}")

    def _read_journal(self, journal: Lines, now: float) -> None:
        rows = []
        said = ""
        for line in journal.read():
            match = _STAMPED.match(line)
            if match:
                at = float(match[1])
                if at > self._position.get("at", 0.0):
                    rows.append((at, match[2]))
            else:
                said += f"{line.strip()} "
        if rows:
            self._position = {"at": rows[-1][0]}
        self._send(JOURNAL, rows)
        if journal.child.ended or _BLIND in said:
            journal.child.close()
            self._journal = None
            self._again_at = now + AGAIN_S
            self._tell(JOURNAL, f"{self._why}; and the journal: {said.strip() or 'journalctl has ended'}")

    def _send(self, source: str, rows: list[tuple[float, str]]) -> None:
        old, self._old = self._old, self._old and not rows and source == JOURNAL
        if old and len(rows) > LAST:
            early = [row for row in rows[:-LAST] if self._sieve.lets_through(row[1].encode())]
            rows = early + rows[-LAST:]
        if rows:
            self._channel.send("rows", s=STREAM, f=source, key=KEY, pos=self._position, old=old, rows=rows)

    def _tell(self, source: str, why: str | None) -> None:
        self._channel.send("open", s=STREAM, f=source, why=why)


def _boot() -> str:
    with open("/proc/sys/kernel/random/boot_id") as file:
        return file.read().strip()
