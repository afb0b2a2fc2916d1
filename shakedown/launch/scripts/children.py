"""Programs that the follower reads from; none outlives it."""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import signal
import subprocess
import time
from collections.abc import Sequence

PR_SET_PDEATHSIG = 1

PIPE = 2**20
"""Bytes that a pipe may hold, unless the machine's administrator says otherwise."""

PAUSE_S = 0.01
GATHER_S = 0.3
"""Everything else waits meanwhile."""

F_SETPIPE_SZ = 1031

_C = ctypes.CDLL(None)


class Child:
    """A running program, its output and its complaints as one, read without waiting.

    Raises:
        OSError: it cannot be started.
    """

    def __init__(self, argv: Sequence[str]) -> None:
        self._process = subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            preexec_fn=_die_with_parent,
        )
        assert self._process.stdout
        self._descriptor = self._process.stdout.fileno()
        os.set_blocking(self._descriptor, False)
        with contextlib.suppress(OSError):
            fcntl.fcntl(self._descriptor, F_SETPIPE_SZ, PIPE)
        self.ended = False

    def read(self, at_most: int = 2**16) -> bytes:
        """What it has written since; after the last of it, ``ended`` holds."""
        try:
            data = os.read(self._descriptor, at_most)
        except BlockingIOError:
            return b""
        self.ended = not data
        return data

    def gather(self, at_most: int) -> bytes:
        """What it writes without a pause, about so many bytes; many short writes are read as one."""
        pieces = []
        size = 0
        deadline = time.monotonic() + GATHER_S
        while size < at_most and time.monotonic() < deadline and not self.ended:
            time.sleep(PAUSE_S)
            piece = self.read(PIPE)
            if not piece:
                break
            pieces.append(piece)
            size += len(piece)
        return b"".join(pieces)

    def close(self) -> None:
        """End it, if it has not ended."""
        self._process.kill()
        self._process.wait()
        assert self._process.stdout
        self._process.stdout.close()


class Lines:
    """A program's output as whole lines."""

    def __init__(self, argv: Sequence[str]) -> None:
        self.child = Child(argv)
        self._rest = b""

    def read(self) -> list[str]:
        """Lines that it has finished; at its end, also what it has not."""
        while True:
            data = self.child.read()
            self._rest += data
            if not data:
                break
        *lines, self._rest = self._rest.split(b"\n")
        if self.child.ended and self._rest:
            lines.append(self._rest)
            self._rest = b""
        return [line.decode(errors="replace") for line in lines]


def _die_with_parent() -> None:
    """A follower that is killed can end nobody; the kernel does it then."""
    _C.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
