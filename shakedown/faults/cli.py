"""`python -m shakedown explain ID`: one entry of the catalogue, for whoever reads the id in a report."""

from __future__ import annotations

from typing import Annotated

import typer

from shakedown.faults.catalogue import Entry, lookup


def explain(id: Annotated[str, typer.Argument(help="As it stands in a finding, e.g. MEM-01.")]) -> None:
    """Say what a fault or a check is about: symptom, cause, remedy, sources."""
    typer.echo(described(lookup(id.upper())))


def described(entry: Entry) -> str:
    """The entry as text for a terminal."""
    parts = [
        f"{entry.id}  {entry.title}",
        f"{entry.kind}, {entry.severity}; met at: {entry.phase}; {entry.status}",
        _part("What it looks like", entry.symptom),
        _part("Why", entry.cause),
        _part("What to do", entry.remedy),
    ]
    if entry.signatures:
        lines = "\n".join(f"{signature.pattern}  ({signature.kind})" for signature in entry.signatures)
        parts.append(_part("In the logs", lines))
    parts.append(_part("Sources", "\n".join(entry.sources)))
    return "\n\n".join(parts)


def _part(title: str, text: str) -> str:
    return f"{title}\n" + "\n".join(f"  {line}".rstrip() for line in text.splitlines())
