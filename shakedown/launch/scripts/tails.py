"""One file of the node, known by its inode, and read from where the reading ended last."""

from __future__ import annotations

import os
import stat
import time
import zlib
from typing import Any

from shakedown.launch.scripts.channel import Channel, packed
from shakedown.launch.scripts.sieve import Sieve

LAST = 64 * 2**10
"""Bytes at the end of a file that are sent whole, whatever stands in them."""

RAW = 8 * 2**20
"""Bytes which may have been written since the last reading and still be sent whole; more is sifted."""

SIFTED_AT_ONCE = 8 * 2**20
READ_AT_ONCE = 256 * 2**10

HEAD = 256
"""Bytes at a file's beginning by which it is known again: a number of an inode is used anew as soon as it is free."""


class Tail:
    """A file, open, and how far it has been read.

    Args:
        channel: where its bytes go.
        sieve: what of a long backlog does.
        stream: which log it is.
        path: its name.
        old: what is there now was there before anybody looked; its lines have the time of their stamps.

    Raises:
        OSError: it cannot be opened, or is no file.
    """

    def __init__(self, channel: Channel, sieve: Sieve, stream: str, path: str, *, old: bool) -> None:
        self.path = path
        self.stream = stream
        self.changed = 0.0 if old else time.monotonic()
        self.more = True
        self._channel = channel
        self._sieve = sieve
        self._descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        status = os.fstat(self._descriptor)
        if not stat.S_ISREG(status.st_mode):
            os.close(self._descriptor)
            raise OSError("not a regular file")
        self.inode = status.st_ino
        self.offset = 0
        self._real = os.path.realpath(path)
        self._old_until = status.st_size if old else 0
        self._sifted_until = 0
        self._head = (0, 0)

    @property
    def key(self) -> str:
        """What it is called in frames: two files may have had the same name."""
        return f"{self.path}#{self.inode}"

    def resume(self, position: dict[str, Any]) -> bool:
        """Go on where the other side has got to; False, and nothing done, where this is another file."""
        if position["inode"] != self.inode or self._sum(position["head"][0]) != position["head"][1]:
            return False
        self.path = position["path"]
        self.offset = position["offset"]
        return True

    def sift_all_but_the_last(self) -> None:
        """Do not send what is there now as a whole."""
        size = os.fstat(self._descriptor).st_size
        if size > LAST:
            self._sifted_until = self._last_lines(size)

    def size(self) -> int:
        """Its size now, under whatever name, bytes."""
        return os.fstat(self._descriptor).st_size

    def read(self, size: int) -> bool:
        """Send what is new in a file of that size, or a part of it; whether there is more."""
        self.more = self._read(size)
        return self.more

    def _read(self, size: int) -> bool:
        cut = size < self.offset  # it was truncated: what comes is not the rest of what came
        if cut:
            self.offset = self._sifted_until = self._old_until = 0
            self._head = (0, 0)
            self._send(b"", old=False, cut=True)
        if size == self.offset:
            return False
        if self.offset >= self._sifted_until and size - self.offset > RAW:
            self._sifted_until = self._last_lines(size)
        if self.offset >= self._old_until:
            self.changed = time.monotonic()
        return self._read_sifted() if self.offset < self._sifted_until else self._read_raw(size)

    def close(self) -> None:
        """Read no further."""
        os.close(self._descriptor)

    def _read_raw(self, size: int) -> bool:
        old = self.offset < self._old_until
        limit = self._old_until if old else size
        data = os.pread(self._descriptor, min(READ_AT_ONCE, limit - self.offset), self.offset)
        if not data:
            return False
        self.offset += len(data)
        self._send(data, old=old)
        return self.offset < size

    def _read_sifted(self) -> bool:
        """Whole lines only, as far as a line fits in what is read at once."""
        old = self.offset < self._old_until
        data = os.pread(self._descriptor, min(SIFTED_AT_ONCE, self._sifted_until - self.offset), self.offset)
        if self.offset + len(data) < self._sifted_until:
            data = data[: data.rfind(b"\n") + 1] or data
        if not data:
            self._sifted_until = 0
            return False
        self.offset += len(data)
        self._send(self._sieve.sift(data), old=old, cut=True)
        return True

    def _last_lines(self, size: int) -> int:
        start = size - LAST
        return start + os.pread(self._descriptor, LAST, start).find(b"\n") + 1

    def _send(self, data: bytes, *, old: bool, cut: bool = False) -> None:
        """What was there before was written, at the latest, when the file was changed last."""
        self._channel.send(
            "data",
            s=self.stream,
            f=self.path,
            key=self.key,
            at=os.fstat(self._descriptor).st_mtime if old else time.time(),
            old=old,
            cut=cut,
            pos=self._position(),
            **packed(data),
        )

    def _position(self) -> dict[str, Any]:
        length = min(HEAD, self.offset)
        if length != self._head[0]:
            self._head = (length, self._sum(length))
        return {
            "stream": self.stream,
            "path": self.path,
            "real": self._real,
            "inode": self.inode,
            "offset": self.offset,
            "head": self._head,
        }

    def _sum(self, length: int) -> int:
        return zlib.crc32(os.pread(self._descriptor, length, 0))
