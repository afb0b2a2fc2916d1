"""Server-sent events out of stamped bytes.

Follows the parsing rules of the WHATWG HTML standard, section 9.2.6 "Interpreting an event stream"
(https://html.spec.whatwg.org/multipage/server-sent-events.html): LF, CR and CRLF end a line, one space after the colon
is dropped, lines that start with a colon are comments, several data lines are joined by LF, a blank line dispatches,
and an event that the end of the stream cuts off is discarded.

It works on bytes, so a character or a line ending that was split over packets is whole again before anybody looks at
it, and however the bytes were split the same events come out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

_LINE_END = re.compile(rb"\r\n|\n|\r")
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Chunk:
    """Bytes as they came off the connection.

    Attributes:
        at: ``time.perf_counter()`` at arrival, s, taken before anything looked at the bytes.
        data: as received.
    """

    at: float
    data: bytes


@dataclass(frozen=True, slots=True)
class Event:
    """One dispatched server-sent event.

    Attributes:
        at: arrival of the bytes that completed it, s.
        type: field ``event``; ``message`` where there was none.
        data: field ``data``, without the last line ending.
    """

    at: float
    type: str
    data: bytes


class EventParser:
    """The state of one event stream between two arrivals."""

    def __init__(self) -> None:
        self._pending = b""
        self._at_start = True
        self._skip_line_feed = False
        self._type = b""
        self._data: list[bytes] = []

    def feed(self, chunk: Chunk) -> Iterator[Event]:
        """The events that these bytes complete."""
        if not chunk.data:
            return
        buffer = self._without_bom(self._pending + chunk.data)
        if self._skip_line_feed:
            buffer = buffer.removeprefix(b"\n")
        start = 0
        for end in _LINE_END.finditer(buffer):
            event = self._line(buffer[start : end.start()], chunk.at)
            start = end.end()
            if event is not None:
                yield event
        self._pending = buffer[start:]
        self._skip_line_feed = not self._pending and buffer.endswith(b"\r")

    def _without_bom(self, buffer: bytes) -> bytes:
        if not self._at_start or (len(buffer) < len(_BOM) and _BOM.startswith(buffer)):
            return buffer
        self._at_start = False
        return buffer.removeprefix(_BOM)

    def _line(self, line: bytes, at: float) -> Event | None:
        if not line:
            return self._dispatch(at)
        field, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if field == b"data":
            self._data.append(value)
        elif field == b"event":
            self._type = value
        return None  # id and retry steer reconnection, which nobody here does; the rest are comments or unknown

    def _dispatch(self, at: float) -> Event | None:
        type, data = self._type, self._data
        self._type, self._data = b"", []
        if not data:
            return None
        return Event(at=at, type=type.decode("utf-8", "replace") or "message", data=b"\n".join(data))


def events(chunks: Iterable[Chunk]) -> Iterator[Event]:
    """All events of a whole stream, in order."""
    parser = EventParser()
    for chunk in chunks:
        yield from parser.feed(chunk)
