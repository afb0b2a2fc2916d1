"""What could not be judged for want of evidence, grouped by what would make it readable: one thing to do, told once."""

from __future__ import annotations

from dataclasses import dataclass

from shakedown.outcomes import Severity
from shakedown.report.results import FindingRecord, Outcome, RunResults


@dataclass(frozen=True, slots=True)
class Unread:
    """Checks that lacked evidence for one reason.

    Attributes:
        ids: of the checks, each once, in the order they were met.
        nodes: where, likewise; the whole deployment where none is named.
        reasons: what could not be read, likewise.
        remedy: what would make it readable; empty where nothing is known to.
        severity: the worst of these checks.
        blocks: whether they failed the run, as warnings do with ``--strict``.
        waived: why they were waived; empty where they were not.
    """

    ids: tuple[str, ...]
    nodes: tuple[str, ...]
    reasons: tuple[str, ...]
    remedy: str
    severity: Severity
    blocks: bool
    waived: str = ""


def unread(results: RunResults) -> list[Unread]:
    """All of them, what failed the run first.

    What has a remedy is grouped by that, for one remedy often helps several checks on several nodes; what has none, by
    the reason itself.
    """
    groups: dict[tuple[str, bool, str], list[FindingRecord]] = {}
    for test in results.tests:
        finding = test.finding
        if finding is not None and not finding.judged:
            blocks = test.outcome in (Outcome.FAILED, Outcome.ERROR)
            waived = test.reason if test.outcome is Outcome.XFAILED else ""
            groups.setdefault((finding.remedy or finding.found, blocks, waived), []).append(finding)
    told = [_group(findings, blocks, waived) for (_, blocks, waived), findings in groups.items()]
    return sorted(told, key=lambda one: not one.blocks)


def _group(findings: list[FindingRecord], blocks: bool, waived: str) -> Unread:
    return Unread(
        ids=tuple(dict.fromkeys(finding.id for finding in findings)),
        nodes=tuple(dict.fromkeys(finding.node for finding in findings if finding.node)) or ("the whole deployment",),
        reasons=tuple(dict.fromkeys(finding.found for finding in findings)),
        remedy=findings[0].remedy,
        severity=min((finding.severity for finding in findings), key=list(Severity).index),
        blocks=blocks,
        waived=waived,
    )
