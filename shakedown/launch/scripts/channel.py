"""The connection as the node sees it: frames out, messages in, and no wait for either."""

from __future__ import annotations

import base64
import json
import os
import select
import time
import zlib
from typing import Any

FULL = 2**20
"""Bytes that may wait to be taken before nothing more is read from any source."""

DEAF_S = 30.0
"""Seconds without a word after which the other side is gone: it pings every few. A cut cable closes no connection."""

WORTH_PACKING = 512


class Gone(Exception):  # noqa: N818 - the ordinary end of a follower
    """Nobody listens any more."""


class Channel:
    """Frames are lines of JSON in ASCII; so are the messages that come back.

    Args:
        read_fd: where messages come from; its end is the end of the follower.
        write_fd: where frames go.
    """

    def __init__(self, read_fd: int = 0, write_fd: int = 1) -> None:
        self._read_fd = read_fd
        self._write_fd = write_fd
        self._out = bytearray()
        self._in = bytearray()
        self._heard = time.monotonic()
        for descriptor in (read_fd, write_fd):
            os.set_blocking(descriptor, False)
        self._poller = select.poll()
        self._poller.register(read_fd, select.POLLIN)
        self._poller.register(write_fd, 0)

    @property
    def full(self) -> bool:
        """Whether the other side takes frames more slowly than they are made."""
        return len(self._out) > FULL

    def send(self, kind: str, **values: Any) -> None:
        """Queue one frame, and write what can be written."""
        values["k"] = kind
        self._out += json.dumps(values, separators=(",", ":")).encode("ascii") + b"\n"
        self._flush()

    def serve(self, until: float) -> list[dict[str, Any]]:
        """Messages, as soon as there are any, or none at a moment of the monotonic clock.

        Raises:
            Gone: the connection has ended, or nothing was heard for too long.
        """
        while True:
            self._poller.modify(self._write_fd, select.POLLOUT if self._out else 0)
            wait_s = max(0.0, until - time.monotonic())
            for descriptor, happened in self._poller.poll(wait_s * 1000):
                if descriptor == self._read_fd:
                    self._receive()
                elif happened & select.POLLOUT:
                    self._flush()
                else:
                    raise Gone
            messages = self._messages()
            if messages or time.monotonic() >= until:
                return messages

    def _receive(self) -> None:
        try:
            data = os.read(self._read_fd, 2**16)
        except BlockingIOError:
            return
        except OSError as error:
            raise Gone from error
        if not data:
            raise Gone
        self._in += data
        self._heard = time.monotonic()

    def _messages(self) -> list[dict[str, Any]]:
        if time.monotonic() - self._heard > DEAF_S:
            raise Gone
        *lines, rest = bytes(self._in).split(b"\n")
        self._in = bytearray(rest)
        return [json.loads(line) for line in lines]

    def _flush(self) -> None:
        try:
            while self._out:
                written = os.write(self._write_fd, self._out[: 2**16])
                del self._out[:written]
        except BlockingIOError:
            return
        except OSError as error:
            raise Gone from error


def packed(data: bytes) -> dict[str, str]:
    """Bytes as a part of a frame: as text of one character a byte, or compressed where that is worth it."""
    if len(data) < WORTH_PACKING:
        return {"t": data.decode("latin-1")}
    return {"z": base64.b64encode(zlib.compress(data, 1)).decode("ascii")}
