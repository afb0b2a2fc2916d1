"""Exceptions as logs report them: where a traceback begins, whose it is, and the line that names the exception."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from shakedown.faults.lines import LogLine
from shakedown.faults.signatures import TRACEBACK

_LONGEST = 400
"""Lines after which a traceback without an end is given up."""

_PREFIX = re.compile(
    r"(?P<who>(?:\([^()]*\) ?)*)"  # (EngineCore pid=216); before it Ray's (RayWorkerProc pid=113, ip=192.0.2.1)
    r"(?:(?P<level>[A-Z]+) [\d-]+ [\d:]+ \[[^\]]*\] ?)?"
)
_IP = re.compile(r"\bip=(?P<ip>\d+\.\d+\.\d+\.\d+)")
_EXCEPTION = re.compile(
    r"(?:[A-Za-z_]\w*\.)*(?!KeyboardInterrupt|SystemExit)"
    r"(?:[A-Z]\w*(?:Error|Exception|Exit|Timeout|Expired|Interrupt|Failure|Unavailable|NotFound)|(?<=\.)[A-Z]\w*)(?::|$)"
)
_WRAPPER = re.compile(r"(?:ray\.exceptions\.)?RayTaskError\(")
"""Ray's report of what another process raised; that stands at the end of the indented lines that follow."""

_SERIOUS = (None, "ERROR", "CRITICAL")
"""Levels at which a traceback may be the end of something; None: it was written without the logger."""


def address_in(text: str) -> str | None:
    """The address of the node that Ray says a line comes from; it says none for the node of the driver."""
    found = _IP.search(text)
    return found["ip"] if found else None


def unfolded(line: LogLine) -> Iterator[LogLine]:
    """The lines that a record in JSON holds, with a traceback that is no mere warning; any other line as it is."""
    if not line.text.startswith("{"):
        yield line
        return
    try:
        record = json.loads(line.text)
    except ValueError:
        yield line
        return
    texts = [str(record.get("message", ""))]
    texts += [str(record.get("exc_info", ""))] if record.get("levelname") in _SERIOUS else []
    for text in "\n".join(texts).splitlines():
        yield replace(line, text=text)


@dataclass(slots=True)
class _Open:
    lines: int = 0
    address: str | None = None


@dataclass(frozen=True, slots=True)
class Read:
    """What a line is to the tracebacks around it.

    Attributes:
        raised: the line names the exception that a traceback ends with.
        address: of the node on which the traceback arose, where Ray says so.
    """

    raised: bool = False
    address: str | None = None


class Tracebacks:
    """The tracebacks that are open; lines of other processes may stand between the lines of one.

    Attributes:
        open: by node, source and process; while there is any, every line counts.
    """

    def __init__(self) -> None:
        self.open: dict[tuple[str, str, str], _Open] = {}

    def feed(self, line: LogLine) -> Read:
        """Take the next line of its source."""
        prefix = _PREFIX.match(line.text)
        assert prefix is not None  # all of it is optional
        text = line.text[prefix.end() :]
        key = (line.node, line.source, prefix["who"])
        if text.startswith(TRACEBACK):
            if prefix["level"] in _SERIOUS:
                self.open[key] = _Open(address=address_in(prefix["who"]))
            return Read(address=address_in(line.text))
        traceback = self.open.get(key)
        if traceback is None:
            return Read(address=address_in(line.text))
        traceback.address = address_in(line.text) or traceback.address
        traceback.lines += 1
        ends = not text.startswith(" ") and not _WRAPPER.match(text) and _EXCEPTION.match(text) is not None
        if ends or traceback.lines > _LONGEST:
            del self.open[key]
        return Read(ends, traceback.address)
