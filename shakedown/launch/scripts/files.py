"""Logs by name: they may appear late, be rotated, truncated, or go away with the folder that a link led to."""

from __future__ import annotations

import fnmatch
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from shakedown.launch.scripts.channel import Channel
from shakedown.launch.scripts.sieve import Sieve
from shakedown.launch.scripts.tails import Tail

LOOK_S = 0.7
"""Between two looks at a folder, and at a file that has been silent for long."""

LIST_S = 5.0
"""Between two listings of a folder that has not changed."""

FRESH_S = 1.0
"""A folder's time of change is coarse: one that has just changed may change again within the same tick."""

SILENT_S = 30.0
"""After so long without a change a file is looked at less often: a session of Ray has hundreds."""

DRAIN_S = 5.0
"""How long a file that lost its name is read on: who writes it may not have noticed."""

MOST = 400
"""Files that are followed at once, the newest of them; a login may open 1024."""


class Files:
    """All logs of one place.

    Args:
        channel: where they go.
        sieve: for what is too long to be sent.
        wanted: pairs of stream and path; the last part of a path may be a pattern.
        positions: what :class:`Tail` said about each file that the other side knows.
    """

    def __init__(
        self, channel: Channel, sieve: Sieve, wanted: Sequence[Sequence[str]], positions: Mapping[str, dict[str, Any]]
    ) -> None:
        self._channel = channel
        self._sieve = sieve
        self._wanted = wanted
        self._tails: dict[str, Tail] = {}
        self._nameless: list[Tail] = []
        self._told: dict[str, str | None] = {}
        self._paths: list[tuple[str, str]] = []
        self._listings: dict[str, tuple[float, int, set[str]]] = {}
        self._look_at = 0.0
        self._first = True
        self._resumed = bool(positions)
        for key, position in positions.items():
            self._resume(key, position)

    def poll(self, now: float) -> bool:
        """Send what is new, or a part of it; whether there is more."""
        look = now >= self._look_at
        if look:
            self._paths = list(self._found())
            self._look_at = now + LOOK_S
        busy = False
        for stream, path in self._paths:
            tail = self._tails.get(path)
            if self._channel.full:
                return False
            if look or (tail and (tail.more or now - tail.changed < SILENT_S)):
                busy |= self._visit(stream, path, tail)
        self._first = False
        return self._drain(now) or busy

    def _found(self) -> Iterator[tuple[str, str]]:
        for stream, path in self._wanted:
            folder, name = os.path.split(path)
            if not _is_pattern(name):
                yield stream, path
                continue
            for one in self._listed(stream, path, folder, name):
                yield stream, one

    def _listed(self, stream: str, path: str, folder: str, pattern: str) -> set[str]:
        """Files of a pattern: those that are there, and those that were and have not been missed yet."""
        now = time.time()
        try:
            changed = os.stat(folder).st_mtime_ns
            listed, version, names = self._listings.get(path, (0.0, 0, set()))
            if changed == version and now - listed < LIST_S and listed - changed / 1e9 > FRESH_S:
                return names
            names = {os.path.join(folder, one) for one in _matching(folder, pattern)}
            why = None if names else "none yet"
            self._listings[path] = (now, changed, names)
        except OSError as error:
            names, why = set(), _words(error)
        if why != self._told.get(path):
            self._tell(stream, path, why)
        return names | {known for known in self._tails if fnmatch.fnmatch(known, path)}

    def _visit(self, stream: str, path: str, tail: Tail | None) -> bool:
        try:
            status = os.stat(path)
            if tail and status.st_ino != tail.inode:
                self._nameless.append(self._tails.pop(path))
                tail = None
            if tail is None:
                tail = self._tails[path] = self._open(stream, path)
                self._tell(stream, path, None)
        except OSError as error:
            if tail:
                self._nameless.append(self._tails.pop(path))
            if tail or self._told.get(path) != _words(error):
                self._tell(stream, path, _words(error))
            return False
        return tail.read(status.st_size)

    def _open(self, stream: str, path: str) -> Tail:
        tail = Tail(self._channel, self._sieve, stream, path, old=self._first)
        if self._first and not self._resumed:
            tail.sift_all_but_the_last()
        return tail

    def _drain(self, now: float) -> bool:
        busy = False
        for tail in list(self._nameless):
            if self._channel.full:
                return False
            more = tail.read(tail.size())
            busy |= more
            if not more and now - tail.changed > DRAIN_S:
                tail.close()
                self._nameless.remove(tail)
                self._channel.send("drop", key=tail.key)
        return busy

    def _resume(self, key: str, position: dict[str, Any]) -> None:
        """Find the file again under its name, or under the one it got when it was rotated."""
        for path in _candidates(position):
            try:
                tail = Tail(self._channel, self._sieve, position["stream"], path, old=True)
            except OSError:
                continue
            if tail.resume(position):
                if path == position["path"]:
                    self._tails[path] = tail
                    self._told[path] = None
                else:
                    self._nameless.append(tail)
                return
            tail.close()
        self._channel.send("drop", key=key)

    def _tell(self, stream: str, path: str, why: str | None) -> None:
        self._told[path] = why
        self._channel.send("open", s=stream, f=path, why=why)


def _matching(folder: str, pattern: str) -> list[str]:
    with os.scandir(folder) as entries:
        matching = [entry for entry in entries if fnmatch.fnmatch(entry.name, pattern)]
    if len(matching) > MOST:
        matching = sorted(matching, key=lambda entry: entry.stat().st_mtime)[-MOST:]
    return [entry.name for entry in matching]


def _candidates(position: dict[str, Any]) -> Iterator[str]:
    yield position["path"]
    yield position["real"]
    try:
        with os.scandir(os.path.dirname(position["real"])) as entries:
            yield from [entry.path for entry in entries if entry.inode() == position["inode"]]
    except OSError:
        return


def _is_pattern(name: str) -> bool:
    return any(char in name for char in "*?[")


def _words(error: OSError) -> str:
    return error.strerror or str(error)
