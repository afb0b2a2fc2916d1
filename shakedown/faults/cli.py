"""`python -m shakedown faults` and `explain ID`: the catalogue for whoever reads an id in a report, or none yet."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from typing import Annotated

import typer

from shakedown.faults.catalogue import Entry, Status, known_faults, lookup
from shakedown.faults.checks import Declared, checks_of

HOW_FOUND: dict[Status, str] = {
    "checked": "a check finds it before the launch",
    "predicted": "a check computes it before the launch",
    "watched": "it shows only while the launch goes on",
    "unknowable": "neither a check nor a log tells it from other faults",
}


def faults(
    as_json: Annotated[bool, typer.Option("--json", help="A JSON list with everything that is known of each.")] = False,
) -> None:
    """List every known fault of a deployment, and how it is found; needs no deployment."""
    entries = known_faults()
    typer.echo(json.dumps([_facts(entry) for entry in entries], indent=2) if as_json else table(entries))


def explain(id: Annotated[str, typer.Argument(help="As it stands in a finding, e.g. MEM-01.")]) -> None:
    """Say what a fault or a check is about: symptom, cause, remedy, where it shows, what finds it, sources."""
    entry = lookup(id.upper())
    typer.echo(described(entry, checks_of(entry.id)))


def table(entries: Iterable[Entry]) -> str:
    """One line an entry, and their number by status at the end."""
    entries = list(entries)
    head = ("id", "severity", "phase", "status", "checks", "title")
    rows = [head, *((*_row(entry), str(len(checks_of(entry.id))), entry.title) for entry in entries)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(head) - 1)]
    lines = ["  ".join((*map(str.ljust, row[:-1], widths), row[-1])) for row in rows]
    return "\n".join([*lines, "", census(entries)])


def census(entries: Iterable[Entry]) -> str:
    """How many entries have each status, in words."""
    counts = Counter(entry.status for entry in entries)
    parts = ", ".join(f"{counts[status]} {status}" for status in HOW_FOUND)
    return f"{counts.total()} faults: {parts}"


def described(entry: Entry, checks: Iterable[Declared] = ()) -> str:
    """The entry as text for a terminal."""
    parts = [
        f"{entry.id}  {entry.title}",
        f"{entry.kind}, {entry.severity}; met at: {entry.phase}" + _how_found(entry),
        _part("What it looks like", entry.symptom),
        _part("Why", entry.cause),
        _part("What to do", entry.remedy),
    ]
    found_by = "\n".join(f"{check.test}  ({check.when})\n  {check.claim}" for check in checks)
    lines = "\n".join(f"{signature.pattern}  ({signature.kind})" for signature in entry.signatures)
    parts += [_part("Found by", found_by)] if found_by else []
    parts += [_part("Where it shows", entry.seen_in)] if entry.seen_in else []
    parts += [_part("In the logs", lines)] if lines else []
    parts.append(_part("Sources", "\n".join(entry.sources)))
    return "\n\n".join(parts)


def _row(entry: Entry) -> tuple[str, str, str, str]:
    return entry.id, entry.severity.value, entry.phase, entry.status


def _how_found(entry: Entry) -> str:
    """Only a fault has a time before it is met; what a served model must do is judged when it serves."""
    return f"; {entry.status}: {HOW_FOUND[entry.status]}" if entry.kind == "fault" else ""


def _facts(entry: Entry) -> dict[str, object]:
    return {**entry.model_dump(mode="json"), "checks": [check.test for check in checks_of(entry.id)]}


def _part(title: str, text: str) -> str:
    return f"{title}\n" + "\n".join(f"  {line}".rstrip() for line in text.splitlines())
