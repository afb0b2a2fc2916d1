"""The catalogue of faults and checks: data in `catalogue/*.toml`, one id for preflight, diagnosis, report and explain.

An entry of kind ``fault`` is something that goes wrong with a deployment; an entry of kind ``check`` is a property
that a served model must have (serving) or a number that is held against its record (perf). Both are read by an
operator at the moment they are needed, so both say what it would look like and what to do.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError, model_validator

from shakedown.errors import CatalogueError
from shakedown.faults.placeholders import filled
from shakedown.faults.signature import Signature
from shakedown.inventory.model import Deployment
from shakedown.outcomes import Finding, Severity

FOLDER = Path(__file__).parent / "catalogue"

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
Id = Annotated[str, StringConstraints(pattern=r"^[A-Z]{2,4}-\d{2}$")]
Status = Literal["checked", "predicted", "watched", "unknowable"]


class Entry(BaseModel):
    """One fault or one check.

    Attributes:
        id: family and number, e.g. ``MEM-01``.
        kind: see the module.
        title: what is wrong, in a few words.
        severity: default of every check that names this entry.
        phase: when the operator would meet it.
        symptom: what it would look like at launch (or to a user of the served model).
        cause: why it happens.
        remedy: what to do, commands included; printed, never run. Names in ``<...>``: see `placeholders.py`.
        sources: public documentation, issue or code.
        status: how a fault is found. ``checked``: a check finds it before the launch. ``predicted``: a check computes
            it from what is there before. ``watched``: it shows only while the launch goes on. ``unknowable``: neither a
            check nor any log of a launch tells it from other faults.
        seen_in: which log or counter shows it while the launch goes on; always there where the status is ``watched``.
        signatures: lines of these logs.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: Id
    kind: Literal["fault", "check"]
    title: Text
    severity: Severity
    phase: Literal["pre-launch", "launch", "nccl", "weights", "graphs", "serving"]
    symptom: Text
    cause: Text
    remedy: Text
    sources: Annotated[tuple[Text, ...], Field(min_length=1)]
    status: Status = "checked"
    seen_in: Text | None = None
    signatures: tuple[Signature, ...] = ()

    @model_validator(mode="after")
    def _says_where_to_watch(self) -> Entry:
        if self.status == "watched" and self.seen_in is None:
            raise ValueError("status watched, but seen_in does not say which log or counter shows it")
        return self

    def finding(
        self,
        *,
        found: str,
        expected: str,
        deployment: Deployment,
        node: str | None = None,
        severity: Severity | None = None,
        differs: Mapping[str, Mapping[str, str]] | None = None,
    ) -> Finding:
        """This entry as a finding at one place: its remedy names what the deployment file declares for that place."""
        return Finding(
            id=self.id,
            title=self.title,
            severity=severity or self.severity,
            node=node,
            found=found,
            expected=expected,
            symptom=self.symptom,
            remedy=filled(self.remedy, deployment, node),
            source=self.sources,
            differs=differs,
        )

    def unjudged(self, *, why: str, remedy: str, node: str | None, severity: Severity) -> Finding:
        """That nothing can be said about this entry: its evidence could not be read.

        Args:
            why: what could not be read.
            remedy: what would make it readable; empty where nothing is known to.
            node: where.
            severity: of the check.
        """
        return Finding(
            id=self.id,
            title=self.title,
            severity=severity,
            node=node,
            found=why,
            expected="",
            symptom="",
            remedy=remedy,
            source=self.sources,
            judged=False,
        )


@cache
def catalogue(folder: Path = FOLDER) -> dict[str, Entry]:
    """All entries by id, in the order of the files.

    Raises:
        CatalogueError: an entry that does not validate, or an id that stands twice.
    """
    entries: dict[str, Entry] = {}
    for file in sorted(folder.glob("*.toml")):
        for table in tomllib.loads(file.read_text(encoding="utf-8")).get("entry", []):
            entry = _validated(table, file)
            if entry.id in entries:
                raise CatalogueError(f"{file.name}: {entry.id} stands twice in the catalogue")
            entries[entry.id] = entry
    return entries


def known_faults() -> list[Entry]:
    """The entries of kind ``fault``, by id."""
    return sorted((entry for entry in catalogue().values() if entry.kind == "fault"), key=lambda entry: entry.id)


def lookup(id: str) -> Entry:
    """The entry of that id.

    Raises:
        CatalogueError: there is none; the text names the ids of the same family.
    """
    entries = catalogue()
    if id in entries:
        return entries[id]
    family = [other for other in entries if other.startswith(id.split("-")[0] + "-")]
    known = ", ".join(family) or ", ".join(sorted({other.split("-")[0] for other in entries}))
    raise CatalogueError(f"{id!r} is not in the catalogue; known: {known}")


def _validated(table: dict[str, object], file: Path) -> Entry:
    try:
        return Entry.model_validate(table)
    except ValidationError as error:
        raise CatalogueError(f"{file.name}: entry {table.get('id', '?')}: {error}") from error
