"""How many of the known faults a run judged, computed from what became of its tests and from nothing else.

A fault counts as judged where at least one of its checks spoke and none of the others broke, was blocked or could not
read its evidence: a fault that is ruled out on one node only is not ruled out. Checks that belong to another stage, or
do not apply, take nothing away from those that spoke.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from shakedown.faults.catalogue import Entry
from shakedown.report.results import CheckResult, Coverage, Outcome

BEHIND = "behind another fault"
UNREADABLE = "without readable evidence"
BROKE = "with a check that broke"
NOT_HERE = "not applicable here"
NOT_RUN = "not run"
_UNDECIDED = (BROKE, UNREADABLE, BEHIND)
"""Why a check is silent although it should have spoken, the worst first."""


def coverage(tests: Iterable[CheckResult], faults: Iterable[Entry]) -> Coverage:
    """What a run's tests say about the known faults.

    Args:
        tests: of one run that has ended.
        faults: the catalogue's entries of kind ``fault``.
    """
    by_id: dict[str, list[CheckResult]] = {}
    for test in tests:
        by_id.setdefault(test.check or "", []).append(test)
    judged: dict[str, list[str]] = {"checked": [], "predicted": []}
    unjudged: dict[str, list[str]] = {}
    at_launch, nowhere = [], []
    for fault in faults:
        own = by_id.get(fault.id, [])
        if fault.status == "watched" and not own:
            at_launch.append(fault.id)
        elif fault.status == "unknowable" and not own:
            nowhere.append(fault.id)
        elif why := _why_silent(own):
            unjudged.setdefault(why, []).append(fault.id)
        else:
            judged["predicted" if fault.status == "predicted" else "checked"].append(fault.id)
    return Coverage(
        checked=tuple(judged["checked"]),
        predicted=tuple(judged["predicted"]),
        at_launch=tuple(at_launch),
        nowhere=tuple(nowhere),
        unjudged={why: tuple(ids) for why, ids in unjudged.items()},
    )


def _why_silent(tests: Sequence[CheckResult]) -> str:
    """Why the checks of one fault say nothing about it together; empty where they do."""
    reasons = [_silence(test) for test in tests]
    for undecided in _UNDECIDED:
        if undecided in reasons:
            return undecided
    if "" in reasons:
        return ""
    return next((why for why in reasons if why != NOT_HERE), NOT_HERE if reasons else NOT_RUN)


def _silence(test: CheckResult) -> str:
    if test.outcome is Outcome.SKIPPED or (test.silent and test.finding is not None):
        return test.silent or NOT_HERE
    if test.outcome in (Outcome.FAILED, Outcome.ERROR, Outcome.XFAILED) and test.finding is None:
        return BROKE
    return ""
