"""Counters of the node, read once a second; at the same time they say that the node is still there."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence

from shakedown.launch.scripts.channel import Channel
from shakedown.launch.scripts.processes import Processes

EVERY_S = 1.0

WORD = 4
"""Bytes that an HCA's port counts as one. Source: Linux, Documentation/ABI/stable/sysfs-class-infiniband."""


class Samples:
    """Reads what can be read.

    Args:
        channel: where numbers go.
        interface: the fabric NIC; None where the machine is not this follower's business.
        hcas: RDMA devices of the fabric.
        processes: those of the engine; None where they are not this follower's business.
    """

    def __init__(
        self, channel: Channel, interface: str | None, hcas: Sequence[str], processes: Processes | None
    ) -> None:
        self._channel = channel
        self._interface = interface
        self._hcas = hcas
        self._processes = processes
        self._at = 0.0

    def poll(self, now: float) -> bool:
        """Send a sample if it is time for one, or a process has ended: that must be known within a second."""
        if now >= self._at or (self._processes and self._processes.changed()):
            self._at = now + EVERY_S
            wall = time.time()
            values = self._processes.look(now, wall) if self._processes else {}
            if self._interface:
                values.update(self._machine(self._interface))
            self._channel.send("sample", at=wall, values=values)
        return False

    def _machine(self, interface: str) -> dict[str, float]:
        values: dict[str, float] = {}
        available = re.search(r"MemAvailable: +(\d+) kB", _read("/proc/meminfo"))
        if available:
            values["AVAILABLE"] = int(available[1]) * 1024
        nic = re.search(rf"(?m)^ *{re.escape(interface)}:(.*)$", _read("/proc/net/dev"))
        if nic:
            fields = nic[1].split()
            values["FABRIC"] = int(fields[0]) + int(fields[8])
        rdma = [_read(f"/sys/class/infiniband/{hca}/ports/1/counters/{name}") for hca in self._hcas for name in _DATA]
        if rdma and all(text.strip().isdigit() for text in rdma):
            values["RDMA"] = sum(int(text) for text in rdma) * WORD
        return values


_DATA = ("port_rcv_data", "port_xmit_data")


def _read(path: str) -> str:
    try:
        with open(path) as file:
            return file.read()
    except OSError:
        return ""
