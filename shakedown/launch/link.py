"""One connection to a follower: a local process whose stdin and stdout are the follower's."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import tempfile
import time
from collections.abc import Sequence
from types import TracebackType
from typing import Any

from shakedown.nodes.redact import redact

END_S = 3.0
"""What a follower that hears the end of its stdin may take to go; over ssh, a round trip and a little."""

LONGEST = 2**26
"""Bytes of a frame. The longest that is made is a sifted piece of a backlog in which every line means something."""


class Link:
    """Starts the process and speaks with it.

    Raises:
        OSError: the program is not there.
    """

    def __init__(self, argv: Sequence[str]) -> None:
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 - closed in __exit__
        try:
            self._process = subprocess.Popen(
                argv,
                bufsize=0,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._stderr,
                start_new_session=True,
            )
        except OSError:
            self._stderr.close()
            raise
        assert self._process.stdout is not None
        self._descriptor = self._process.stdout.fileno()
        self._poll = select.poll()
        self._poll.register(self._descriptor, select.POLLIN)
        self._rest = b""
        self.ended = False
        self.heard = time.monotonic()

    def __enter__(self) -> Link:
        return self

    def send(self, **message: Any) -> None:
        """Say something to the follower; one that has gone does not hear it."""
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            self._process.stdin.write(json.dumps(message).encode() + b"\n")

    def frames(self, timeout_s: float) -> list[dict[str, Any]]:
        """What has come, waiting for it so long; anything that is no frame (a banner) is left out."""
        if not self._poll.poll(timeout_s * 1000):
            return []
        data = os.read(self._descriptor, 2**20)
        self.ended = not data or len(self._rest) > LONGEST
        if data:
            self.heard = time.monotonic()
        *lines, self._rest = (self._rest + data).split(b"\n") if b"\n" in data else (self._rest + data,)
        return [frame for frame in map(_frame, lines) if frame is not None]

    def farewell(self) -> tuple[int, str]:
        """How the process ended, and what it said on stderr."""
        try:
            code = self._process.wait(END_S)
        except subprocess.TimeoutExpired:
            self._kill()
            code = self._process.wait()
        self._stderr.seek(0)
        return code, redact(self._stderr.read()).decode(errors="replace").replace("\r", "").strip()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Let the follower hear the end of its stdin, and make sure that the process goes."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        deadline = time.monotonic() + END_S
        while not self.ended and time.monotonic() < deadline:
            self.frames(deadline - time.monotonic())
        if not self.ended:
            self._kill()
        self.farewell()
        self._process.stdout.close()
        self._stderr.close()

    def _kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)


def _frame(line: bytes) -> dict[str, Any] | None:
    if not line.startswith(b"{"):
        return None
    try:
        frame = json.loads(line)
    except ValueError:
        return None
    return frame if isinstance(frame, dict) and "k" in frame else None
