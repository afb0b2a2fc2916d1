# revision: 2
"""One end of a measurement of TCP: some streams one way, then as many the other way; what arrived here, as JSON.

Arguments: seconds of each way, streams, own address, the peer's, a port, and ``first`` or ``second``: who sends first.
The peer runs the same with the roles changed. Bytes are counted where they arrive, and packets where they are sent: how
many there were, and how many of them had to be sent again.
"""

from __future__ import annotations

import contextlib
import json
import socket
import struct
import sys
import threading
import time
from collections.abc import Sequence

BLOCK = 1 << 20
SENT_AGAIN, SENT = (100, "I"), (136, "I")
"""Offsets and types of ``tcpi_total_retrans`` and ``tcpi_segs_out`` in ``struct tcp_info`` of linux/tcp.h."""

INFO_BYTES = 140

BEGIN_S = 15.0
"""How long the other end may take to begin."""


def receive(server: socket.socket, streams: int, limit_s: float) -> dict[str, float]:
    """Take in that many streams for that long, then hang up; what then is in the sender's buffers is not counted."""
    server.settimeout(BEGIN_S)
    connections = [server.accept()[0] for _ in range(streams)]
    counts = [0] * streams
    began = time.monotonic()

    def drain(number: int) -> None:
        buffer = bytearray(BLOCK)
        with connections[number] as connection, contextlib.suppress(TimeoutError):
            while (left := began + limit_s - time.monotonic()) > 0:
                connection.settimeout(left)
                counts[number] += connection.recv_into(buffer)

    run([threading.Thread(target=drain, args=(number,)) for number in range(streams)])
    return {"bytes": sum(counts), "seconds": time.monotonic() - began}


def send(own: str, peer: str, port: int, streams: int, limit_s: float) -> dict[str, int]:
    """Send until the peer hangs up; what the kernel counted, nothing where it does not tell."""
    connections = [connect(own, peer, port) for _ in range(streams)]
    deadline = time.monotonic() + limit_s + BEGIN_S
    block = bytes(BLOCK)
    counted: list[dict[str, int]] = []

    def pour(connection: socket.socket) -> None:
        with connection:
            with contextlib.suppress(OSError):
                while (left := deadline - time.monotonic()) > 0:
                    connection.settimeout(left)
                    connection.sendall(block)
            counted.append(counters(connection))

    run([threading.Thread(target=pour, args=(connection,)) for connection in connections])
    return {name: sum(one[name] for one in counted) for name in ("sent", "sent_again") if all(counted)}


def counters(connection: socket.socket) -> dict[str, int]:
    """What the kernel counts of a connection; empty where it is too old to tell."""
    with contextlib.suppress(OSError):
        information = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256)
        if len(information) >= INFO_BYTES:
            (sent,), (again,) = (struct.unpack_from(kind, information, offset) for offset, kind in (SENT, SENT_AGAIN))
            return {"sent": sent, "sent_again": again}
    return {}


def connect(own: str, peer: str, port: int) -> socket.socket:
    """A connection to the peer, which may not have begun."""
    deadline = time.monotonic() + BEGIN_S
    while True:
        try:
            return socket.create_connection((peer, port), 2.0, (own, 0))
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)


def run(threads: Sequence[threading.Thread]) -> None:
    """Start all and wait for all."""
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def main() -> None:
    """Print the answer."""
    limit, count, own, peer, port, turn = sys.argv[1:]
    limit_s, streams = float(limit), int(count)
    with socket.create_server((own, int(port)), backlog=streams) as server:
        if turn == "first":
            sent = send(own, peer, int(port), streams, limit_s)
            received = receive(server, streams, limit_s)
        else:
            received = receive(server, streams, limit_s)
            sent = send(own, peer, int(port), streams, limit_s)
    json.dump({**received, **sent}, sys.stdout)


if __name__ == "__main__":
    main()
