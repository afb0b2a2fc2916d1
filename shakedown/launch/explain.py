"""What is told of a failure or a standstill: the catalogue's entry, filled in with what was seen."""

from __future__ import annotations

from collections.abc import Iterator

from shakedown.faults.catalogue import lookup
from shakedown.faults.diagnosis import UNCOVERED, Diagnosis, preflight
from shakedown.faults.placeholders import filled
from shakedown.faults.sighting import Sighting
from shakedown.inventory.model import Deployment
from shakedown.launch.stall import Cause
from shakedown.launch.status import Explanation

LONGEST = 300
"""Letters of a further line that are told."""


def of_diagnosis(diagnosis: Diagnosis) -> Explanation:
    """What the logs say, with the other lines that belong to it."""
    return Explanation(
        fault=diagnosis.fault,
        title=diagnosis.title,
        node=diagnosis.node,
        at=diagnosis.line.at,
        stream=f"{diagnosis.line.stream} of {diagnosis.line.node}",
        line=diagnosis.line.text.strip(),
        why=diagnosis.why,
        remedy=diagnosis.remedy,
        check=diagnosis.preflight,
        evidence=tuple(_others(diagnosis)),
    )


def of_cause(deployment: Deployment, cause: Cause, *, at: float, title: str) -> Explanation:
    """A cause that no line of a log tells; ``title`` stands where no known fault has one."""
    entry = lookup(cause.fault) if cause.fault else None
    return Explanation(
        fault=cause.fault,
        title=entry.title if entry else title,
        node=cause.node,
        at=at,
        line=cause.found,
        why=entry.cause if entry else "",
        remedy=filled(entry.remedy, deployment, cause.node) if entry else "",
        check=preflight(entry) if entry else UNCOVERED,
        evidence=cause.evidence,
    )


def _others(diagnosis: Diagnosis) -> Iterator[str]:
    for title, sightings in (("also", diagnosis.others), ("then", diagnosis.consequences), ("hint", diagnosis.hints)):
        yield from (f"{title}: {_sighted(sighting)}" for sighting in sightings)
    yield from (f"no line ever came from {log}" for log in diagnosis.empty)
    yield from (f"{node} could not be followed any more" for node in diagnosis.unreachable)


def _sighted(sighting: Sighting) -> str:
    line = sighting.line
    return f"{sighting.fault or sighting.kind}, {line.stream} of {line.node}: {line.text.strip()[:LONGEST]}"
