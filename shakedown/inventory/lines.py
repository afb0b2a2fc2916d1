"""In which line of a TOML text a key stands.

The parser of the standard library does not tell, so this reads the text a second time, line by line: headers and
``key =``. It is an aid to the reader of a message and never decides anything; keys of inline tables and of arrays are
given the line of what they stand in.
"""

from __future__ import annotations

import re

from shakedown.inventory.problems import Path

_PART = r"""(?:[A-Za-z0-9_-]+|"[^"\n]*"|'[^'\n]*')"""
_DOTTED = rf"{_PART}(?:\s*\.\s*{_PART})*"
_HEADER = re.compile(rf"\s*(\[\[?)\s*({_DOTTED})\s*\]")
_KEY = re.compile(rf"\s*({_DOTTED})\s*=")
_QUOTES = ('"""', "'''")


def lines_of(text: str) -> dict[Path, int]:
    """Line number (1 first) of every header and key that stands at the start of a line."""
    lines: dict[Path, int] = {}
    counts: dict[Path, int] = {}
    table: Path = ()
    within: str | None = None
    for number, line in enumerate(text.split("\n"), start=1):
        if within:
            within = None if line.count(within) % 2 else within
            continue
        if header := _HEADER.match(line):
            table = _table(header, counts)
            lines.setdefault(table, number)
            lines.setdefault(table[:-1] if header[1] == "[[" else table, number)
        elif key := _KEY.match(line):
            lines.setdefault((*table, *_parts(key[1])), number)
            within = next((quotes for quotes in _QUOTES if line.count(quotes) % 2), None)
    return lines


def line_of(path: Path, lines: dict[Path, int]) -> int | None:
    """Line of a key, else of the nearest thing that it stands in; None for what stands nowhere."""
    for length in range(len(path), 0, -1):
        if path[:length] in lines:
            return lines[path[:length]]
    return None


def _table(header: re.Match[str], counts: dict[Path, int]) -> Path:
    path: Path = ()
    parts = _parts(header[2])
    for part in parts[:-1]:
        path = (*path, part)
        if path in counts:
            path = (*path, counts[path])
    path = (*path, parts[-1])
    if header[1] == "[[":
        counts[path] = counts.get(path, -1) + 1
        path = (*path, counts[path])
    return path


def _parts(dotted: str) -> list[str]:
    return [part.strip("\"'") for part in re.findall(_PART, dotted)]
