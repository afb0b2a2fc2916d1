"""From a dictionary to a deployment file: the TOML that a deployment needs, and no more of it."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from shakedown.files import write_atomically


def write_deployment(deployment: Mapping[str, Any], path: Path) -> None:
    """Write a deployment file; `load_deployment` gives back what went in.

    Args:
        deployment: tables and keys as in the file: strings, booleans, numbers, lists and dictionaries of them. A key
            with None is left out. Anything else (a path, an address) is written as its ``str()``.
        path: where; its folder exists. Written whole or not at all.

    Raises:
        ValueError: a string that cannot stand in a file, or a list that mixes tables with values.
        OSError: as of writing.
    """
    write_atomically(path, toml(deployment))


def toml(table: Mapping[str, Any]) -> str:
    """The table as TOML text."""
    return "\n".join(_lines(table, ())) + "\n"


def _lines(table: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[str]:
    given = {key: value for key, value in table.items() if value is not None}
    for key, value in given.items():
        if not _is_table(value) and not _is_tables(value):
            yield f"{_key(key)} = {_value(value)}"
    for key, value in given.items():
        here = (*path, key)
        name = ".".join(map(_key, here))
        if _is_table(value):
            yield from ("", f"[{name}]", *_lines(value, here))
        elif _is_tables(value):
            for item in value:
                yield from ("", f"[[{name}]]", *_lines(item, here))


def _is_table(value: object) -> bool:
    return isinstance(value, Mapping)


def _is_tables(value: object) -> bool:
    return isinstance(value, list | tuple) and bool(value) and all(map(_is_table, value))


def _key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else _string(key)


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else f"{value}"
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return f"[{', '.join(map(_item, value))}]"
    return _string(str(value))


def _item(value: object) -> str:
    if value is None or isinstance(value, Mapping):
        raise ValueError("a list of a deployment file holds either tables or values, and no None")
    return _value(value)


def _string(text: str) -> str:
    if any("\ud800" <= char <= "\udfff" for char in text):
        raise ValueError(f"{text!r} has half of a surrogate pair and cannot stand in a file")
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007F")
