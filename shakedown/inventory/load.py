"""From a deployment file to a :class:`Deployment`, or to a text that says everything that is wrong with the file."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator
from datetime import date, time
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from shakedown.errors import DeploymentFileError
from shakedown.inventory.consistency import inconsistencies
from shakedown.inventory.lines import line_of, lines_of
from shakedown.inventory.model import FILE_VERSION, Deployment
from shakedown.inventory.problems import Path as KeyPath
from shakedown.inventory.problems import Problem, dotted, found, unknown_key
from shakedown.inventory.profile import profile_of
from shakedown.inventory.schema import TABLES, all_keys, problems_of_types, typed
from shakedown.text import printable

MOST_BYTES = 1 << 20
MOST_DEPTH = 8
MOST_SHOWN = 30


def load_deployment(path: Path) -> Deployment:
    """Read a deployment file.

    Raises:
        DeploymentFileError: the file cannot be read or used. The text has one line for each problem:
            ``FILE:LINE: KEY: what was found; what is allowed``.
    """
    text = _read(path)
    document = _parsed(text, path)
    if not document:
        raise _refused(path, "holds no key; deployment.example.toml is a start")
    version = document.get("version")
    if type(version) is int and version > FILE_VERSION:
        newer = Problem(("version",), f"{found(version, _versions())} (a newer shakedown wrote this file: update)")
        raise _unusable(path, text, [newer])
    problems = list(_foreign(document))
    told = {problem.path for problem in problems}
    problems += (problem for problem in _judged(document) if problem.path not in told)
    if problems:
        raise _unusable(path, text, problems)
    deployment = typed(document, profile_of(document))
    profile = deployment.profile.with_values(deployment.expect, str(path))
    return deployment.model_copy(update={"profile": profile})


def _judged(document: dict[str, Any]) -> Iterator[Problem]:
    version = document.get("version", FILE_VERSION)
    if type(version) is not int or version != FILE_VERSION:
        yield Problem(("version",), found(version, _versions()))
    if "profile" in document:  # the model has a field of that name, which is not the file's to fill
        yield unknown_key(("profile",), TABLES[()], all_keys())
    plain = {**document, "version": FILE_VERSION} if "version" in document else dict(document)
    plain.pop("profile", None)
    try:
        typed(plain, profile_of(plain))
    except ValidationError as error:
        yield from problems_of_types(error, plain)
    yield from inconsistencies(plain)


def _read(path: Path) -> str:
    if path.is_dir():
        raise _refused(path, "is a folder, not a deployment file")
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise _refused(path, f"cannot be read: {error.strerror or error}") from error
    except ValueError as error:
        raise _refused(path, f"cannot be read: {error}") from error
    if len(data) > MOST_BYTES:
        raise _refused(path, f"has more than {MOST_BYTES} bytes and is no deployment file")
    if not data.strip():
        raise _refused(path, "is empty; deployment.example.toml is a start")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise _refused(path, f"byte 0x{data[error.start]:02x} is not UTF-8; save the file as UTF-8", line) from error


def _parsed(text: str, path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except RecursionError as error:
        raise _refused(path, "is not a deployment file: nested too deeply") from error
    except ValueError as error:
        reason = str(error)
        line = None
        if at := re.search(r" \(at line (\d+), (column \d+)\)$", reason):
            reason, line = f"{reason[: at.start()]} ({at[2]})", int(at[1])
        raise _refused(path, f"is not TOML: {reason}", line) from error


def _foreign(document: dict[str, Any]) -> Iterator[Problem]:
    """Values that TOML can say and no key takes; each is blanked, so that it is reported once."""
    waiting: list[tuple[KeyPath, dict[str, Any] | list[Any]]] = [((), document)]
    while waiting:
        path, table = waiting.pop()
        for key, value in list(table.items()) if isinstance(table, dict) else list(enumerate(table)):
            here: KeyPath = (*path, key)
            if reason := _no_value(value, here):
                yield Problem(here, found(value, reason))
                table[key] = None  # type: ignore[index]
            elif isinstance(value, dict | list):
                waiting.append((here, value))


def _no_value(value: object, path: KeyPath) -> str | None:
    if isinstance(value, date | time):
        return _no_date(value, path)
    if isinstance(value, int) and value.bit_length() > 63:
        return "whole numbers of 64 bits"
    if isinstance(value, dict | list) and len(path) > MOST_DEPTH:
        return f"at most {MOST_DEPTH} levels"
    return None


def _no_date(value: date | time, path: KeyPath) -> str | None:
    if (path[0], path[-1], len(path)) != ("waiver", "until", 3):
        return "no date and no time, which only waiver.until takes"
    return None if type(value) is date else "a date without a time, such as 2026-12-31"


def _versions() -> str:
    return ", ".join(str(version) for version in range(1, FILE_VERSION + 1))


def _unusable(path: Path, text: str, problems: Iterable[Problem]) -> DeploymentFileError:
    lines = lines_of(text)
    numbered = [(line_of(problem.path, lines), problem) for problem in problems]
    numbered.sort(key=lambda pair: pair[0] or 0)
    told = [_line(path, f"{dotted(problem.path)}: {problem.text}", line) for line, problem in numbered[:MOST_SHOWN]]
    if len(numbered) > MOST_SHOWN:
        told.append(_line(path, f"and {len(numbered) - MOST_SHOWN} more problems"))
    return DeploymentFileError("\n".join(told))


def _refused(path: Path, reason: str, line: int | None = None) -> DeploymentFileError:
    return DeploymentFileError(_line(path, reason, line))


def _line(path: Path, text: str, line: int | None = None) -> str:
    return printable(f"{path}:{line}: {text}" if line else f"{path}: {text}")
