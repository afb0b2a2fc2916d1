# revision: 1
"""Listen on some ports of the own address, and connect to those of every peer, at the same time; the outcome as JSON.

Arguments: seconds, own address, own ports (``1,2,3``), and for each peer ``ADDRESS=1,2,3``. Every peer runs the same.
It ends as soon as all ports were reached in both directions, and in any case after these seconds.
"""

from __future__ import annotations

import json
import socket
import sys
import threading
import time

GREETING = b"shakedown\n"
PAUSE_S = 0.1
CONNECT_S = 2.0


class Listener:
    """One port of our own; whoever connects is greeted, which tells us from anybody else's server."""

    def __init__(self, address: str, port: int) -> None:
        self.greeted = 0
        self.problem: str | None = None
        try:
            self._server = socket.create_server((address, port))
        except OSError as error:
            self.problem = str(error)
        else:
            threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            connection, _ = self._server.accept()
            with connection:
                connection.sendall(GREETING)
            self.greeted += 1


class Attempt(threading.Thread):
    """One port of a peer; tried until it is reached or the time is over."""

    def __init__(self, own: str, address: str, port: str, deadline: float) -> None:
        super().__init__(daemon=True)
        self.address, self.port = address, port
        self.problem: str | None = "not tried"
        self._own, self._deadline = own, deadline

    def run(self) -> None:
        """Leaves what went wrong in ``problem``; None once the peer has greeted us."""
        while self.problem is not None and (left := self._deadline - time.monotonic()) > 0:
            try:
                limit = min(CONNECT_S, left)
                with socket.create_connection((self.address, int(self.port)), limit, (self._own, 0)) as connection:
                    said = connection.makefile("rb").readline()
                self.problem = None if said == GREETING else "something else listens there"
            except OSError as error:
                self.problem = str(error)
                time.sleep(PAUSE_S)  # the peer may not have begun


def main() -> None:
    """Print the answer."""
    limit_s, own, ports, *peers = sys.argv[1:]
    deadline = time.monotonic() + float(limit_s)
    listeners = {port: Listener(own, int(port)) for port in ports.split(",")}
    attempts = [
        Attempt(own, address, port, deadline)
        for address, _, theirs in (peer.partition("=") for peer in peers)
        for port in theirs.split(",")
    ]
    for attempt in attempts:
        attempt.start()
    for attempt in attempts:
        attempt.join()
    waiting = [listener for listener in listeners.values() if listener.problem is None]
    while time.monotonic() < deadline and any(listener.greeted < len(peers) for listener in waiting):
        time.sleep(PAUSE_S)
    reached: dict[str, dict[str, str | None]] = {}
    for attempt in attempts:
        reached.setdefault(attempt.address, {})[attempt.port] = attempt.problem
    taken = {port: listener.problem for port, listener in listeners.items() if listener.problem}
    json.dump({"taken": taken, "reached": reached}, sys.stdout, sort_keys=True)


if __name__ == "__main__":
    main()
