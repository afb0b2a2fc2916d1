"""`results.json`: the one machine-readable outcome of a run, from which every other report is drawn."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from datetime import date, datetime
from enum import StrEnum
from pathlib import Path
from typing import Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, NonNegativeInt, model_validator

from shakedown.files import write_atomically
from shakedown.outcomes import Finding, Metric, Severity, Stage
from shakedown.report.timeline import TimelineRecord

ENDED = frozenset({0, 1, 5})
"""Exit codes of a pytest run that came to its end: all passed, some failed, nothing collected."""


class Outcome(StrEnum):
    """What became of a test.

    ``finding`` is a claim that does not hold and is no blocker: it does not fail the run. ``error`` is a test that
    could not be carried out; ``xfailed`` a finding that was waived.
    """

    PASSED = "passed"
    FINDING = "finding"
    FAILED = "failed"
    ERROR = "error"
    XFAILED = "xfailed"
    SKIPPED = "skipped"


class Verdict(StrEnum):
    """What became of a run.

    ``accepted``: no blocker; ``refused``: at least one test failed or could not be carried out; ``incomplete``: it was
    cut off, so nothing follows from what is missing; ``empty``: not a single claim was judged.
    """

    ACCEPTED = "accepted"
    REFUSED = "refused"
    INCOMPLETE = "incomplete"
    EMPTY = "empty"


class Record(BaseModel):
    """A part of the file: strict on reading, so that a report is never drawn from something else."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class FindingRecord(Record):
    """The parts of a :class:`Finding`; ``judged`` is false where it says only that the evidence could not be read.

    ``differs`` is empty but where the finding is about what should be equal.
    """

    id: str
    title: str
    severity: Severity
    node: str | None
    found: str
    expected: str
    symptom: str
    remedy: str
    source: tuple[str, ...] = ()
    judged: bool = True
    differs: dict[str, dict[str, str]] = {}

    @classmethod
    def of(cls, finding: Finding) -> FindingRecord:
        """The record of a finding."""
        return cls(**{name: getattr(finding, name) for name in cls.model_fields})


class MetricRecord(Record):
    """A :class:`Metric`; a value that is no number JSON can hold becomes None, and the note says so."""

    name: str
    value: float | None
    unit: str
    better: Literal["lower", "higher", "none"] = "none"
    samples: NonNegativeInt | None = None
    note: str = ""

    @classmethod
    def of(cls, metric: Metric) -> MetricRecord:
        """The record of a metric."""
        value, note = metric.value, metric.note
        if value is not None and not math.isfinite(value):
            note = "; ".join(filter(None, (note, f"measured as {value}")))
            value = None
        return cls(
            name=metric.name, value=value, unit=metric.unit, better=metric.better, samples=metric.samples, note=note
        )


class CheckResult(Record):
    """One test.

    Attributes:
        nodeid: pytest's name of it.
        suite: ``infra``, ``serving`` or ``perf``.
        check: id in the catalogue.
        claim: what it claims, one sentence.
        node: the node it was about, None where it was about the whole deployment.
        severity: of the check.
        outcome: what became of it.
        reason: why it was skipped, waived or broke; empty otherwise.
        silent: what kept it from judging anything, in words that can stand behind a number of faults; empty where it
            judged, and where it was skipped because it does not apply.
        detail: the traceback of a test that broke.
        finding: what did not hold.
        metrics: what it measured.
        verdict: a comparison's own word (``PASS``, ``INCONCLUSIVE`` ...), where it has one.
        duration_s: set-up, body and tear-down, s.
    """

    nodeid: str
    suite: Literal["infra", "serving", "perf"] | None = None
    check: str | None = None
    claim: str = ""
    node: str | None = None
    severity: Severity | None = None
    outcome: Outcome
    reason: str = ""
    silent: str = ""
    detail: str = ""
    finding: FindingRecord | None = None
    metrics: tuple[MetricRecord, ...] = ()
    verdict: str | None = None
    duration_s: float = 0.0


class Coverage(Record):
    """Which of the known faults a run judged; every list of ids holds others, and every fault is in one.

    Attributes:
        checked: a check of the run spoke about it.
        predicted: a check of the run computed it from what is there before the launch.
        at_launch: shows only while a launch goes on.
        nowhere: neither a check nor a log of a launch tells it from other faults.
        unjudged: it has a check, and the run says nothing: by the reason.
        unverified: no faults: what the judged bundle shows whose form follows no public capture of such a machine.
    """

    checked: tuple[str, ...] = ()
    predicted: tuple[str, ...] = ()
    at_launch: tuple[str, ...] = ()
    nowhere: tuple[str, ...] = ()
    unjudged: dict[str, tuple[str, ...]] = {}
    unverified: tuple[str, ...] = ()

    @property
    def judged(self) -> int:
        """Number of faults that the run says something about."""
        return len(self.checked) + len(self.predicted)

    @property
    def faults(self) -> int:
        """Number of all known faults."""
        return self.judged + len(self.at_launch) + len(self.nowhere) + sum(map(len, self.unjudged.values()))


class WaiverState(StrEnum):
    """What became of a waiver: it helped; no finding needed it; its check said nothing; too old; no such id."""

    MET = "met"
    MET_NOTHING = "met nothing"
    NOT_JUDGED = "not judged"
    EXPIRED = "expired"
    UNKNOWN = "unknown id"


class WaiverRecord(Record):
    """A waiver of the deployment file; ``until`` is the last day, UTC, on which it helps."""

    id: str
    node: str | None
    reason: str
    until: date
    state: WaiverState


class DeploymentRecord(Record):
    """Which deployment it was; ``chosen_by`` is the option, variable or default that named it."""

    name: str
    profile: str
    label: Literal["EMBEDDED", "SIMULATED"] | None = None
    file: str
    chosen_by: str


class RunResults(Record):
    """A whole run.

    Attributes:
        format: version of this file's format.
        suite_version: of shakedown.
        deployment: what was tested.
        suites: which suites had a test in it, in their order.
        stages: at which the deployment was, in the order in which it passed them.
        command: the arguments that pytest was given.
        started: UTC.
        finished: UTC; None while the run goes on, and for ever where it was killed.
        exit_status: pytest's; None likewise.
        errors: what went wrong outside of any test, as while they were collected.
        coverage: what was judged of the known faults, where the run had infra checks and has finished.
        waivers: what became of those of the deployment file.
        start: the time line of the start of the server, where the run was about it and it was followed from here.
        totals: number of tests by outcome; all outcomes are there.
        verdict: see :class:`Verdict`.
        tests: in the order in which they ran.
    """

    format: Literal[1] = 1
    suite_version: str
    deployment: DeploymentRecord
    suites: tuple[str, ...] = ()
    stages: tuple[Stage, ...] = ()
    command: tuple[str, ...] = ()
    started: AwareDatetime
    finished: AwareDatetime | None = None
    exit_status: int | None = None
    errors: tuple[str, ...] = ()
    coverage: Coverage | None = None
    waivers: tuple[WaiverRecord, ...] = ()
    start: TimelineRecord | None = None
    totals: dict[Outcome, NonNegativeInt]
    verdict: Verdict
    tests: tuple[CheckResult, ...] = ()

    @model_validator(mode="after")
    def _agrees_with_itself(self) -> RunResults:
        if self.totals != totals_of(self.tests):
            raise ValueError("totals do not count the tests of this file")
        if self.verdict != verdict_of(self.totals, self.exit_status, self.errors):
            raise ValueError(f"verdict {self.verdict} does not follow from totals, errors and exit status")
        return self

    @property
    def duration_s(self) -> float | None:
        """From start to finish, s."""
        return (self.finished - self.started).total_seconds() if self.finished else None

    def of_outcome(self, *outcomes: Outcome) -> tuple[CheckResult, ...]:
        """The tests with one of these outcomes, in order."""
        return tuple(test for test in self.tests if test.outcome in outcomes)

    def save(self, path: Path, *, durable: bool = True) -> None:
        """Write the file, whole or not at all; with ``durable`` it survives a loss of power, too."""
        write_atomically(path, self.model_dump_json(indent=2) + "\n", durable=durable)


def run_results(
    *,
    suite_version: str,
    deployment: DeploymentRecord,
    tests: Iterable[CheckResult],
    started: datetime,
    finished: datetime | None = None,
    exit_status: int | None = None,
    stages: Iterable[Stage] = (),
    command: Iterable[str] = (),
    errors: Iterable[str] = (),
    coverage: Coverage | None = None,
    waivers: Iterable[WaiverRecord] = (),
    start: TimelineRecord | None = None,
) -> RunResults:
    """The results of a run, with totals and verdict computed from its tests."""
    tests, errors = tuple(tests), tuple(errors)
    totals = totals_of(tests)
    present = {test.suite for test in tests}
    return RunResults(
        suite_version=suite_version,
        deployment=deployment,
        suites=tuple(suite for suite in ("infra", "serving", "perf") if suite in present),
        stages=tuple(stages),
        command=tuple(command),
        started=started,
        finished=finished,
        exit_status=exit_status,
        errors=errors,
        coverage=coverage,
        waivers=tuple(waivers),
        start=start,
        totals=totals,
        verdict=verdict_of(totals, exit_status, errors),
        tests=tests,
    )


def totals_of(tests: Iterable[CheckResult]) -> dict[Outcome, int]:
    """Number of tests by outcome, zeros included."""
    counts = Counter(test.outcome for test in tests)
    return {outcome: counts[outcome] for outcome in Outcome}


def verdict_of(totals: dict[Outcome, int], exit_status: int | None, errors: tuple[str, ...]) -> Verdict:
    """What follows from a run; a blocker stays one where the run was cut off behind it."""
    if totals[Outcome.FAILED] or totals[Outcome.ERROR]:
        return Verdict.REFUSED
    if exit_status not in ENDED or errors:
        return Verdict.INCOMPLETE
    if not (totals[Outcome.PASSED] or totals[Outcome.FINDING] or totals[Outcome.XFAILED]):
        return Verdict.EMPTY
    return Verdict.ACCEPTED
