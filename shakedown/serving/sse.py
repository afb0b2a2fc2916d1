"""Server-sent events, read from raw bytes: the events themselves, and whether the framing keeps to the rules.

The grammar is that of the HTML standard, section 9.2.6; https://html.spec.whatwg.org/multipage/server-sent-events.html
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from shakedown.serving.exchange import Arrival

DONE = "[DONE]"
_LINE_END = re.compile(rb"\r\n|\n|\r")
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Event:
    """One dispatched event.

    Attributes:
        type: value of its ``event`` field, ``message`` where it has none.
        data: its ``data`` lines, joined by newlines.
        at_s: when the read that completed it came, s since the request was sent.
    """

    type: str
    data: str
    at_s: float

    @property
    def json(self) -> Any:
        """The data as JSON; None where it is none (``[DONE]`` is none)."""
        try:
            return json.loads(self.data)
        except ValueError:
            return None


@dataclass(frozen=True, slots=True)
class Stream:
    """A whole response body.

    Attributes:
        events: in order.
        rest: what stands behind the last blank line; empty in a stream that was closed cleanly.
        stray: lines that are neither a known field nor a comment, shortened by nobody.
    """

    events: tuple[Event, ...]
    rest: bytes
    stray: tuple[str, ...]


def read_stream(arrivals: Iterable[Arrival]) -> Stream:
    """Read all events; how the bytes were cut into reads makes no difference but to the times."""
    reader = _Reader()
    for arrival in arrivals:
        reader.feed(arrival.data, arrival.at_s)
    return reader.finish()


class _Reader:
    """Line by line; a carriage return at the end of a read ends its line, and a line feed that comes next is its other
    half.
    """

    def __init__(self) -> None:
        self._pending = b""
        self._at_start = True
        self._skip_line_feed = False
        self._type = ""
        self._data: list[str] = []
        self._events: list[Event] = []
        self._stray: list[str] = []
        self._open: list[bytes] = []
        self._at_s = 0.0

    def feed(self, data: bytes, at_s: float) -> None:
        if not data:
            return
        self._at_s = at_s
        if self._skip_line_feed:
            data = data.removeprefix(b"\n")
            self._skip_line_feed = False
        buffer = self._without_bom(self._pending + data)
        start = 0
        for end in _LINE_END.finditer(buffer):
            self._line(buffer[start : end.start()])
            start = end.end()
        self._pending = buffer[start:]
        self._skip_line_feed = not self._pending and buffer.endswith(b"\r")

    def finish(self) -> Stream:
        rest = b"\n".join([*self._open, self._pending])
        return Stream(tuple(self._events), rest, tuple(self._stray))

    def _without_bom(self, buffer: bytes) -> bytes:
        if not self._at_start or (len(buffer) < len(_BOM) and _BOM.startswith(buffer)):
            return buffer
        self._at_start = False
        return buffer.removeprefix(_BOM)

    def _line(self, line: bytes) -> None:
        if not line:
            self._dispatch()
            return
        self._open.append(line)
        name, _, value = line.decode("utf-8", "replace").partition(":")
        value = value.removeprefix(" ")
        if name == "data":
            self._data.append(value)
        elif name == "event":
            self._type = value
        elif name not in ("", "id", "retry"):
            self._stray.append(line.decode("utf-8", "replace"))

    def _dispatch(self) -> None:
        if self._data:
            self._events.append(Event(self._type or "message", "\n".join(self._data), self._at_s))
        self._type, self._data, self._open = "", [], []
