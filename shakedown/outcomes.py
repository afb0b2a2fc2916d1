"""What a check can say: a finding, with a severity, and metrics. The vocabulary every layer shares."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal


class Severity(StrEnum):
    """How much a finding matters. Only a blocker fails a run unless ``--strict`` is given."""

    BLOCKER = "blocker"
    WARNING = "warning"
    INFO = "info"


class Stage(StrEnum):
    """How far a deployment has come: machines up, Ray cluster formed, model ready."""

    HOSTS = "hosts"
    RAY = "ray"
    SERVING = "serving"

    @property
    def order(self) -> int:
        """Position in the start-up, 0 first."""
        return list(Stage).index(self)


class Finding(Exception):  # noqa: N818 - the word of the field for what a check found; not a failure of ours
    """A claim that does not hold, or one that could not be judged.

    ``str()`` gives the parts an operator needs: where, what was found, what was expected, what it would look like at
    launch, and what to do next. Where nothing was judged it gives the reason, and what would make it readable: the
    fault's own symptom and remedy would tell of something that nobody has seen.

    Attributes:
        id, title, severity, source: of the catalogue's entry, the severity perhaps the check's own.
        node: where; None for the whole deployment.
        found: what was found; where nothing was judged, why.
        expected, symptom: what it is compared with, what it would look like; empty where nothing was judged.
        remedy: what to do; where nothing was judged, what would make it readable, or empty.
        judged: False where the evidence could not be read.
        differs: where it is about equality, what is not the same on all nodes: subject -> node -> value.
    """

    def __init__(
        self,
        *,
        id: str,
        title: str,
        severity: Severity,
        found: str,
        expected: str,
        symptom: str,
        remedy: str,
        node: str | None = None,
        source: tuple[str, ...] = (),
        judged: bool = True,
        differs: Mapping[str, Mapping[str, str]] | None = None,
    ) -> None:
        self.id = id
        self.title = title
        self.severity = severity
        self.found = found
        self.expected = expected
        self.symptom = symptom
        self.remedy = remedy
        self.node = node
        self.source = source
        self.judged = judged
        self.differs = {subject: dict(values) for subject, values in (differs or {}).items()}
        super().__init__(str(self))

    def __str__(self) -> str:
        node = self.node or "the whole deployment"
        told = (
            (
                (self.id, f"{self.title} [{self.severity}]"),
                ("node", node),
                ("found", self.found),
                ("expected", self.expected),
                ("at launch", self.symptom),
                ("remedy", self.remedy),
            )
            if self.judged
            else (
                (self.id, f"could not be judged, is about: {self.title} [{self.severity}]"),
                ("node", node),
                ("why", self.found),
                ("to judge", self.remedy),
            )
        )
        return "\n".join(f"{label:<9} {_indented(text)}" for label, text in told if text)


def _indented(text: str) -> str:
    return text.strip().replace("\n", "\n" + " " * 10)


@dataclass(frozen=True, slots=True)
class Metric:
    """One measured number.

    Attributes:
        name: dotted name, unique within a test, e.g. ``ttft.p90``.
        value: the number, or None where it was refused (see ``note``).
        unit: SI or the field's unit: ``s``, ``tokens/s``, ``requests/s``, ``ratio``, ``bytes``.
        better: which direction is an improvement; ``none`` for facts.
        samples: how many observations stand behind the value.
        note: why the value is missing or how it must be read.
    """

    name: str
    value: float | None
    unit: str
    better: Literal["lower", "higher", "none"] = "none"
    samples: int | None = None
    note: str = ""
