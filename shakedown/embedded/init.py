"""First process of a node: gives it its name, reaps its orphans and waits. Runs with the engine's Python, alone."""

import signal
import socket
import sys


def main() -> None:
    """Entry point; never returns."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the kernel then reaps whoever is left to this process
    socket.sethostname(sys.argv[1])
    print("up", flush=True)  # noqa: T201 - the hub waits for this line
    while True:
        signal.pause()


if __name__ == "__main__":
    main()
