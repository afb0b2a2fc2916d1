"""Bytes of a log to lines, however they are cut, and a line to what it says: who speaks, when, and the message.

A line may carry, in this order: the name a container runtime puts before it, the prefix of Ray (``(RayWorkerProc pid=9,
ip=10.0.0.2)``), that of vLLM (``(Worker_TP1 pid=9)``), and the head of a logger. vLLM writes
``INFO 03-02 10:00:00 [core.py:102] message``, or one JSON object where its formatter is set to that; Ray writes
``2026-03-02 10:00:00,104 INFO worker.py:1810 -- message``; uvicorn ``INFO:     message``; bars have no head at all.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

LONGEST = 16 * 1024
"""Bytes of a line that are kept; vLLM's longest, the engine's configuration, has some five thousand."""

CUT = " [cut]"
"""Stands at the end of a line that was longer."""

_ENDS = re.compile(rb"[\r\n]+")
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[ -/]*[0-Z\\^-~])")
_REPEATED = re.compile(r" \[repeated \d+x across cluster\].*$")

_RUNTIME = re.compile(r"(?:[\w./-]+ +\| ?)?(?:\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-][\d:]+) )?")
_SPEAKER = re.compile(r"\((?:(?P<name>[\w.-]+)(?:\([^()]*\))? )?pid=(?P<pid>\d{1,10})(?:, ip=(?P<ip>[\w.:]+))?\)\s*")
_LEVEL = r"(?:DEBUG|INFO|WARNING|ERROR|CRITICAL)"
_HEAD = re.compile(
    rf"\b{_LEVEL} (?P<vllm>\d\d-\d\d \d\d:\d\d:\d\d) \[[^\]\s]*\] ?"
    rf"|\b\d{{4}}-(?P<other>\d\d-\d\d \d\d:\d\d:\d\d),\d{{3}}(?:\s+| - ){_LEVEL}(?:\s+| - )\S+(?: -- | - (?:[\w.]+: )?)"
)
_FURTHEST_HEAD = 300
_UVICORN = re.compile(rf"{_LEVEL}:\s+")
_JSON_STAMP = re.compile(r"\d{4}-(\d\d-\d\d)[ T](\d\d:\d\d:\d\d)")
_WORKER = re.compile(r"(?:Ray|Vllm)?Worker")


class Splitter:
    """Bytes as they come, to whole lines: the same lines wherever the bytes are cut.

    Carriage returns end lines too, so that a bar that redraws itself gives one line for each time it was drawn. Blank
    lines are dropped, colours removed, bytes that are no UTF-8 replaced, lines above `LONGEST` cut with a mark.
    """

    def __init__(self) -> None:
        self._rest = b""

    @property
    def waits(self) -> bool:
        """Whether a line has begun that has not ended."""
        return bool(self._rest.strip())

    def feed(self, piece: bytes) -> list[str]:
        """The lines that end in this piece."""
        *ended, rest = _ENDS.split(piece)
        if ended:
            ended[0] = self._rest + ended[0]
            self._rest = b""
        self._rest = (self._rest + rest)[: LONGEST + 1]  # one byte more tells that it is too long
        return [line for raw in ended if (line := _line(raw))]

    def flush(self) -> list[str]:
        """What has begun, as if it ended here; what follows is a line of its own."""
        rest, self._rest = self._rest, b""
        line = _line(rest)
        return [line] if line else []


def lines_of(text: str) -> Iterator[str]:
    """Lines of a whole log, as `Splitter` gives them."""
    splitter = Splitter()
    yield from splitter.feed(text.encode(errors="replace"))
    yield from splitter.flush()


def plain(text: str) -> str:
    """The text without colours and other escape sequences of terminals."""
    return _ESCAPES.sub("", text) if "\x1b" in text else text


def _line(raw: bytes) -> str:
    text = plain(raw[:LONGEST].decode(errors="replace")).rstrip()
    return text + CUT if text and len(raw) > LONGEST else text


@dataclass(frozen=True, slots=True)
class Speaker:
    """A process that a line names as its writer.

    Attributes:
        name: ``APIServer``, ``EngineCore``, ``Worker_TP1``, ...; "" where only the number is told.
        pid: process id on its node.
        ip: node of a Ray worker, None where it is the node of the engine.
    """

    name: str
    pid: int
    ip: str | None = None

    @property
    def works(self) -> bool:
        """Whether it is a worker: a process that holds one rank of the model."""
        return _WORKER.match(self.name) is not None


@dataclass(frozen=True, slots=True)
class Said:
    """What one line says.

    Attributes:
        message: without prefixes and head.
        stamp: ``MM-DD HH:MM:SS`` of the head, None where it has none.
        speakers: outermost first.
    """

    message: str
    stamp: str | None
    speakers: tuple[Speaker, ...]

    @property
    def speaker(self) -> Speaker | None:
        """The innermost: it wrote the line, the others passed it on."""
        return self.speakers[-1] if self.speakers else None

    @property
    def worker(self) -> Speaker | None:
        """The worker that wrote it, with its node; None for other processes."""
        if not any(speaker.works for speaker in self.speakers):
            return None
        ip = next((speaker.ip for speaker in self.speakers if speaker.ip), None)
        return Speaker(self.speakers[-1].name, self.speakers[-1].pid, ip)


def said_by(text: str) -> Said:
    """Take a line apart; the text is without colours. Never raises."""
    text = _REPEATED.sub("", text)
    head = _HEAD.search(text, 0, _FURTHEST_HEAD)
    if head is not None and '"' not in text[: head.start()]:
        return Said(text[head.end() :], head["vllm"] or head["other"], _speakers(text[: head.start()]))
    begin = _RUNTIME.match(text)
    start = begin.end() if begin else 0
    at = start
    while speaker := _SPEAKER.match(text, at):
        at = speaker.end()
    speakers, rest = _speakers(text[start:at]), text[at:]
    if rest.startswith("{") and (record := _record(rest)) is not None:
        return Said(record.message, record.stamp, (*speakers, *record.speakers))
    uvicorn = _UVICORN.match(rest)
    return Said(rest[uvicorn.end() :] if uvicorn else rest, None, speakers)


def _speakers(text: str) -> tuple[Speaker, ...]:
    return tuple(Speaker(match["name"] or "", int(match["pid"]), match["ip"]) for match in _SPEAKER.finditer(text))


def _record(text: str) -> Said | None:
    """One JSON object with ``asctime``, ``processName``, ``process`` and ``message``; None if it is something else."""
    try:
        record = json.loads(text)
    except (ValueError, RecursionError):
        return None
    message = record.get("message") if isinstance(record, dict) else None
    if not isinstance(message, str):
        return None
    stamp = _JSON_STAMP.match(str(record.get("asctime", "")))
    name, pid = record.get("processName"), record.get("process")
    speakers = (Speaker(name, pid),) if isinstance(name, str) and isinstance(pid, int) else ()
    return Said(message, f"{stamp[1]} {stamp[2]}" if stamp else None, speakers)
