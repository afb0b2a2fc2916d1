"""What is wrong with a deployment file: where, what was found, what is allowed; and how that is put into words."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass

from shakedown.text import printable

Path = tuple[str | int, ...]
"""Keys and indices from the root of the file."""

MOST_SHOWN = 80
_PASSWORD = re.compile(r"""(?<=://)[^/\s@]*@|[^/\s"@:]+:[^/\s"@]+@""")


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that keeps a file from being used.

    Attributes:
        path: the key it is about; empty for the file as a whole.
        text: what was found and what is allowed.
    """

    path: Path
    text: str


def found(value: object, allowed: str) -> str:
    """The text of a problem with a value."""
    return f"found {shown(value)}; allowed: {allowed}"


def dotted(path: Path) -> str:
    """``("node", 1, "name")`` as ``node[1].name``; keys that are not bare are quoted."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            text += ("." if text else "") + (part if re.fullmatch(r"[A-Za-z0-9_-]+", part) else shown(part))
    return text


def shown(value: object) -> str:
    """A value of the file as its writer knows it: one line, shortened, without the password of a URL."""
    if isinstance(value, dict):
        return "a table"
    if isinstance(value, list):
        if value and all(isinstance(item, dict) for item in value):
            return f"{len(value)} table{'s' if len(value) > 1 else ''}"
        return "an array" if len(value) > 4 else "[" + ", ".join(shown(item) for item in value) + "]"
    if isinstance(value, bool | str):
        text = _PASSWORD.sub("***@", json.dumps(value, ensure_ascii=False))
    elif isinstance(value, int) and value.bit_length() > 64:
        text = "a number of more than 64 bits"
    else:
        text = str(value)
    if len(text) > MOST_SHOWN:
        text = text[: MOST_SHOWN - 4] + " ..."
    return printable(text)


def unknown_key(path: Path, known: Iterable[str], elsewhere: Iterable[str]) -> Problem:
    """A key that no table has at this place; the nearest known one is suggested.

    Args:
        path: of the key.
        known: keys of the table it stands in.
        elsewhere: dotted names of all keys of the file, for one that stands in the wrong table.
    """
    key = str(path[-1])
    here = list(known)
    nearest: str | None = next(iter(difflib.get_close_matches(key, here, n=1, cutoff=0.6)), None)
    if nearest is not None:
        nearest = dotted((*path[:-1], nearest))
    else:
        nearest = next((name for name in elsewhere if name.rpartition(".")[2] == key), None)
    if nearest is not None:
        return Problem(path, f"unknown key; did you mean {nearest}?")
    return Problem(path, f"unknown key; known here: {', '.join(here)}")
