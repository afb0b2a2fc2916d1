"""What became of every waiver of the deployment file, computed from what became of the tests.

A waiver that helps nobody is told, so that the file does not fill with exceptions which nobody needs any more.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from datetime import date

from shakedown.inventory.model import Waiver
from shakedown.report.results import CheckResult, Outcome, WaiverRecord, WaiverState


def waiver_records(
    waivers: Iterable[Waiver], tests: Sequence[CheckResult], *, known: Collection[str], today: date
) -> list[WaiverRecord]:
    """One record a waiver, in the order of the file.

    Args:
        waivers: as declared.
        tests: of one run that has ended.
        known: ids of the catalogue.
        today: day of the run, UTC.
    """
    return [
        WaiverRecord(
            id=waiver.id,
            node=waiver.node,
            reason=waiver.reason,
            until=waiver.until,
            state=_state(waiver, tests, known, today),
        )
        for waiver in waivers
    ]


def _state(waiver: Waiver, tests: Sequence[CheckResult], known: Collection[str], today: date) -> WaiverState:
    if waiver.id not in known:
        return WaiverState.UNKNOWN
    if waiver.until < today:
        return WaiverState.EXPIRED
    found = [test.finding for test in tests if test.outcome is Outcome.XFAILED and test.finding is not None]
    if any(waiver.covers(finding.id, finding.node) for finding in found):
        return WaiverState.MET
    judged = [test for test in tests if test.outcome in (Outcome.PASSED, Outcome.FINDING, Outcome.FAILED)]
    if any(test.check == waiver.id and waiver.node in (None, test.node or waiver.node) for test in judged):
        return WaiverState.MET_NOTHING
    return WaiverState.NOT_JUDGED
