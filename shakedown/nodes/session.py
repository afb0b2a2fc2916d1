"""A local process that speaks for a node: given a script, watched while it answers, ended for certain."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from types import TracebackType

from shakedown.nodes.redact import redact

SETTLE_S = 15.0
"""What a connection may take on top of a command's own limit: ssh gives up after 10 s."""


class Session:
    """Runs an argument list in a process group of its own.

    Args:
        argv: what a transport made.
        limit_s: how long silence may last before the first line.

    Raises:
        OSError: the program is not there.
    """

    def __init__(self, argv: list[str], limit_s: float) -> None:
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 - closed in __exit__
        try:
            self._process = subprocess.Popen(
                argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._stderr, start_new_session=True
            )
        except OSError:
            self._stderr.close()
            raise
        self._timer: threading.Timer | None = None
        self.timed_out = False
        self.expect_within(limit_s)

    def __enter__(self) -> Session:
        return self

    def send(self, script: str) -> None:
        """Hand the script over and close the process's stdin."""
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # it ended at once; what it said on stderr tells why
            self._process.stdin.write(script.encode())
            self._process.stdin.close()

    def lines(self) -> Iterator[tuple[bytes, float]]:
        """Every line with the time at which it was complete, seconds since the epoch."""
        assert self._process.stdout is not None
        for line in self._process.stdout:
            yield line, time.time()

    def expect_within(self, limit_s: float) -> None:
        """The next line must come within this time and what a connection may take; else the process is ended."""
        self._disarm()
        self._timer = threading.Timer(limit_s + SETTLE_S, self._give_up)
        self._timer.daemon = True
        self._timer.start()

    def farewell(self) -> str:
        """How the process ended and its last words on stderr; waits for the end."""
        code = self._process.wait()
        self._stderr.seek(0)
        said = redact(self._stderr.read()).decode(errors="replace").replace("\r", "").strip()
        return f"{said or 'it said nothing'} (exit code {code})"

    def finish(self) -> None:
        """Let the process end by itself, so that ssh can leave its connection to the next one."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(SETTLE_S)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._disarm()
        self._kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._stderr):
            with contextlib.suppress(OSError):
                if stream:
                    stream.close()

    def _disarm(self) -> None:
        if self._timer:
            self._timer.cancel()

    def _give_up(self) -> None:
        self.timed_out = True
        self._kill()

    def _kill(self) -> None:
        """End the whole group: the transport and, on this machine, what it started."""
        if self._process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
