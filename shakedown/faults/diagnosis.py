"""What is wrong with a launch, for people: the line that tells it, why, what to do, what would have found it."""

from __future__ import annotations

import textwrap
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass

from shakedown.errors import CatalogueError
from shakedown.faults.catalogue import Entry
from shakedown.faults.checks import checks_of
from shakedown.faults.lines import LogLine
from shakedown.faults.sighting import Sighting

UNCOVERED = "no preflight check covers this: please add one"


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Why a launch has failed.

    Attributes:
        fault: id in the catalogue; None for an exception that it does not know.
        kind: of the line: ``root``, ``suspect``, ``unknown``; ``consequence`` or ``hint`` where there is no better one.
        title: what is wrong, in a few words.
        node: where it happened, which need not be where the line was written.
        line: the line that tells it.
        why: what the line says in words, then the cause.
        symptom: what it looks like; empty for an unknown fault.
        remedy: what to do.
        preflight: which checks would have found it before the launch.
        others: further roots and suspects, the earliest line of each fault, in the order of their times.
        consequences: of those, too, the earliest line of each fault.
        hints: lines that are no failure and may explain one.
        empty: logs from which no line ever came, as ``NODE: LOG``; the root may stand there.
        unreachable: nodes that could not be followed any more.
        settled: every stream had the time to bring an earlier root; until then the next verdict may be another one.
    """

    fault: str | None
    kind: str
    title: str
    node: str
    line: LogLine
    why: str
    symptom: str
    remedy: str
    preflight: str
    others: tuple[Sighting, ...] = ()
    consequences: tuple[Sighting, ...] = ()
    hints: tuple[Sighting, ...] = ()
    empty: tuple[str, ...] = ()
    unreachable: tuple[str, ...] = ()
    settled: bool = False


def preflight(entry: Entry) -> str:
    """Which checks find a fault before a launch, or that none does."""
    try:
        checks = [check for check in checks_of(entry.id) if check.test.startswith("tests_infra/")]
    except CatalogueError:  # the package was installed without its suites: no reason to keep the diagnosis back
        return "unknown: the suites do not lie beside the package"
    return "\n".join(f"{check.test}  ({check.when})" for check in checks) or UNCOVERED


def text(diagnosis: Diagnosis) -> str:
    """The diagnosis for a terminal or a log, in the manner of a finding."""
    return "\n".join(f"{label:<9} {_indented(part)}" for label, part in _parts(diagnosis) if part)


def facts(diagnosis: Diagnosis) -> dict[str, object]:
    """The diagnosis for other programs, as JSON takes it."""
    plain = ("fault", "kind", "title", "node", "why", "symptom", "remedy", "preflight", "settled")
    return {
        **{name: getattr(diagnosis, name) for name in plain},
        "line": asdict(diagnosis.line),
        **{name: [*map(_fact, getattr(diagnosis, name))] for name in ("others", "consequences", "hints")},
        "empty": [*diagnosis.empty],
        "unreachable": [*diagnosis.unreachable],
    }


def _fact(sighting: Sighting) -> dict[str, object]:
    return {"fault": sighting.fault, "kind": sighting.kind, "line": asdict(sighting.line)}


def _parts(diagnosis: Diagnosis) -> Iterator[tuple[str, str]]:
    line = diagnosis.line
    yield diagnosis.fault or "unknown", f"{diagnosis.title} [{diagnosis.kind}]"
    yield "node", diagnosis.node + (f" (written on {line.node})" if line.node != diagnosis.node else "")
    yield "found", f"{_shortened(line.text)}\n{_place(line)}"
    yield "why", diagnosis.why
    yield "remedy", diagnosis.remedy
    yield "preflight", diagnosis.preflight
    yield "also", "\n".join(map(_sighted, diagnosis.others))
    yield "then", "\n".join(map(_sighted, diagnosis.consequences))
    yield "hint", "\n".join(map(_hinted, diagnosis.hints))
    yield "empty", "\n".join(diagnosis.empty)
    yield "lost", ", ".join(diagnosis.unreachable)


def _place(line: LogLine) -> str:
    return f"{time.strftime('%H:%M:%S', time.localtime(line.at))}, {line.stream} of {line.node}: {line.source}"


def _sighted(sighting: Sighting) -> str:
    line = sighting.line
    written = time.strftime("%H:%M:%S", time.localtime(line.at))
    return f"{sighting.fault or sighting.kind}  {written} {line.stream} of {line.node}: {_shortened(line.text, 160)}"


def _hinted(sighting: Sighting) -> str:
    said = sighting.match.said if sighting.match else ""
    return f"{sighting.fault}  {said or _shortened(sighting.line.text, 160)}"


def _shortened(line: str, limit: int = 600) -> str:
    """A line without what no reader wants of it: some end with the names of all models that there are."""
    return textwrap.shorten(line, limit, placeholder=" ...")


def _indented(part: str) -> str:
    return part.strip().replace("\n", "\n" + " " * 10)
