"""A proxy command for ssh whose round trip takes longer: each direction is held back by half of it.

    python link.py ADDRESS PORT ADDED_S

For kernels without the qdisc ``netem``. Bytes are held back, not slowed down: a chunk leaves when it has been here for
its time, however many are under way, as on a long cable. Standard library only; it runs beside every connection.
"""

from __future__ import annotations

import contextlib
import os
import queue
import socket
import sys
import threading
import time
from collections.abc import Callable

CHUNK = 65536


def main() -> None:
    """Connect standard input and output with the address until that has closed: then what is said reaches nobody."""
    address, port, added_s = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    with socket.create_connection((address, port)) as peer:
        peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

        def write(chunk: bytes) -> None:
            if chunk:
                peer.sendall(chunk)
            else:
                peer.shutdown(socket.SHUT_WR)

        carried(lambda: os.read(0, CHUNK), write, added_s / 2)
        carried(lambda: peer.recv(CHUNK), _print, added_s / 2).join()


def carried(read: Callable[[], bytes], write: Callable[[bytes], None], held_s: float) -> threading.Thread:
    """Start to carry chunks from ``read`` to ``write``, each held for that long; an empty one is the last.

    Returns:
        The thread that writes; it ends after the last chunk.
    """
    under_way: queue.SimpleQueue[tuple[float, bytes]] = queue.SimpleQueue()

    def take_in() -> None:
        chunk = b"-"
        while chunk:
            try:
                chunk = read()
            except OSError:
                chunk = b""
            under_way.put((time.monotonic() + held_s, chunk))

    def hand_out() -> None:
        chunk = b"-"
        with contextlib.suppress(OSError):
            while chunk:
                due, chunk = under_way.get()
                time.sleep(max(0.0, due - time.monotonic()))
                write(chunk)

    threading.Thread(target=take_in, daemon=True).start()
    writer = threading.Thread(target=hand_out, daemon=True)
    writer.start()
    return writer


def _print(chunk: bytes) -> None:
    while chunk:
        chunk = chunk[os.write(1, chunk) :]


if __name__ == "__main__":
    main()
