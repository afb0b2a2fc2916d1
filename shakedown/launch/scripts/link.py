"""Whether the fabric NIC has a link, told as the line of the kernel's log that its driver may or may not write."""

from __future__ import annotations

import time

from shakedown.launch.scripts.channel import Channel

EVERY_S = 0.5
STREAM = "kernel log"
KEY = "link"


class Link:
    """Looks at one NIC, and tells when its state changes.

    Args:
        channel: where that goes.
        interface: the NIC.
    """

    def __init__(self, channel: Channel, interface: str) -> None:
        self._channel = channel
        self._interface = interface
        self._file = f"/sys/class/net/{interface}/operstate"
        self._state = self._now()
        self._at = 0.0

    def poll(self, now: float) -> bool:
        """Tell a change."""
        if now >= self._at:
            self._at = now + EVERY_S
            before, self._state = self._state, self._now()
            if self._state != before:
                rows = [(time.time(), f"{self._interface}: link was {before}, is {self._state}")]
                self._channel.send("rows", s=STREAM, f=self._file, key=KEY, pos=None, old=False, rows=rows)
        return False

    def _now(self) -> str:
        try:
            with open(self._file) as file:
                return file.read().strip()
        except OSError:
            return "gone"
