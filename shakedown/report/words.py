"""How results are put into words: the same in the terminal and on the page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from shakedown.outcomes import Severity
from shakedown.report.results import (
    CheckResult,
    FindingRecord,
    MetricRecord,
    Outcome,
    RunResults,
    Verdict,
    WaiverRecord,
    WaiverState,
)

NOTHING_SAID = "nothing is said about your machines"

SENTENCE = {
    Verdict.ACCEPTED: "no blocker was found",
    Verdict.INCOMPLETE: "the run was cut off; nothing follows from what is missing",
    Verdict.EMPTY: "not a single claim was judged",
}
NOUN = {
    Outcome.FAILED: ("failed", "failed"),
    Outcome.ERROR: ("error", "errors"),
    Outcome.FINDING: ("finding that does not block", "findings that do not block"),
    Outcome.XFAILED: ("waived", "waived"),
    Outcome.PASSED: ("passed", "passed"),
    Outcome.SKIPPED: ("skipped", "skipped"),
}


@dataclass(frozen=True, slots=True)
class Place:
    """Where a finding was met."""

    node: str
    found: str
    expected: str
    remedy: str


@dataclass(frozen=True, slots=True)
class Trouble:
    """One fault, with all the places where it was met: it is read and remedied once.

    Attributes:
        finding: any of them; the symptom is the same in all.
        places: node, found, expected of each.
        blocks: whether it failed the run.
        waived: why it was waived; empty where it was not.
    """

    finding: FindingRecord
    places: tuple[Place, ...]
    blocks: bool
    waived: str = ""

    @property
    def remedies(self) -> list[tuple[tuple[str, ...], str]]:
        """What to do, with the nodes for which these are the words: they differ in names and addresses only."""
        nodes: dict[str, list[str]] = {}
        for place in self.places:
            nodes.setdefault(place.remedy, []).append(place.node)
        return [(tuple(dict.fromkeys(names)), remedy) for remedy, names in nodes.items()]


def troubles(results: RunResults) -> list[Trouble]:
    """Every fault that was found, what failed the run first, then by severity, each in the order it was met.

    What could not be judged is told apart from them, by `unread.py`.
    """
    groups: dict[tuple[str, bool, str], list[FindingRecord]] = {}
    for test in results.tests:
        if test.finding is not None and test.finding.judged:
            waived = test.reason if test.outcome is Outcome.XFAILED else ""
            blocks = test.outcome in (Outcome.FAILED, Outcome.ERROR)
            groups.setdefault((test.finding.id, blocks, waived), []).append(test.finding)
    found = [
        Trouble(findings[0], tuple(map(_place, findings)), blocks, waived)
        for (_, blocks, waived), findings in groups.items()
    ]
    order = list(Severity)
    return sorted(found, key=lambda one: (not one.blocks, bool(one.waived), order.index(one.finding.severity)))


def broken(results: RunResults) -> tuple[CheckResult, ...]:
    """The tests that failed or could not be carried out without having found anything: a matter of the suite."""
    return tuple(test for test in results.of_outcome(Outcome.FAILED, Outcome.ERROR) if test.finding is None)


def skip_reasons(results: RunResults) -> list[tuple[int, str]]:
    """How many tests were skipped for each reason, the most frequent first."""
    return [(count, reason) for reason, count in _counted(test.reason for test in results.of_outcome(Outcome.SKIPPED))]


def tally(results: RunResults) -> str:
    """Numbers of tests by outcome, in words; those that did not occur are left out."""
    parts = [
        f"{results.totals[outcome]} {words[results.totals[outcome] != 1]}"
        for outcome, words in NOUN.items()
        if results.totals[outcome]
    ]
    return ", ".join(parts) or "no test ran"


def sentence(results: RunResults) -> str:
    """What the verdict means; an acceptance says how much it rests on, since what was not judged speaks for nothing."""
    if results.verdict is Verdict.REFUSED:
        return _refusal(results)
    said = SENTENCE[results.verdict]
    if results.verdict is not Verdict.ACCEPTED:
        return said
    held = results.totals[Outcome.PASSED]
    unread = [test for test in results.tests if test.finding is not None and not test.finding.judged]
    silent = results.totals[Outcome.SKIPPED] + len(unread)
    parts = [f"{held} {'claim' if held == 1 else 'claims'} held"]
    if silent:
        parts.append(f"{silent} {'was' if silent == 1 else 'were'} not judged")
    return f"{said} ({', '.join(parts)})"


def _refusal(results: RunResults) -> str:
    """What failed the run: what was found, what could not be judged, and what broke are three different things."""
    broke = broken(results)
    if broke and not any(test.finding or test.outcome is Outcome.PASSED for test in results.tests):
        return f"nothing was judged: {broke[0].reason.splitlines()[0]}" if broke[0].reason else "nothing was judged"
    failed = results.of_outcome(Outcome.FAILED, Outcome.ERROR)
    wrong = sum(test.finding is not None and test.finding.judged for test in failed)
    unknown = sum(test.finding is not None and not test.finding.judged for test in failed)
    parts = [
        f"{wrong} {'claim does' if wrong == 1 else 'claims do'} not hold" if wrong else "",
        f"{unknown} {'claim' if unknown == 1 else 'claims'} could not be judged" if unknown else "",
        f"{len(broke)} {'test' if len(broke) == 1 else 'tests'} broke" if broke else "",
    ]
    return ", ".join(filter(None, parts))


def judged(test: CheckResult) -> str:
    """What became of the numbers of a test: its verdict; ``not judged`` where it was skipped without one."""
    return test.verdict or ("not judged" if test.outcome is Outcome.SKIPPED else "")


def quantity(metric: MetricRecord) -> str:
    """Value and unit: four significant digits, whole numbers whole; ``none`` where there is no value."""
    if metric.value is None:
        return "none"
    size = abs(metric.value)
    number = f"{metric.value:.0f}" if size >= 1000 else f"{metric.value:.4g}"
    return f"{number} {metric.unit}".strip()


def title(results: RunResults) -> str:
    """Label, deployment, profile, suites and stages in one line."""
    deployment = results.deployment
    parts = [
        " ".join(filter(None, (deployment.label, deployment.name, f"({deployment.profile})"))),
        ", ".join(results.suites),
        f"stage {' -> '.join(results.stages)}" if results.stages else "",
    ]
    return ", ".join(filter(None, parts))


def lasted(seconds: float) -> str:
    """A duration for people: ``850 ms``, ``3.2 s``, ``12 min 5 s``."""
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s"


def coverage_text(results: RunResults) -> tuple[str, ...]:
    """How many of the known faults the run judged, and what keeps it from the others; nothing where none was asked."""
    coverage = results.coverage
    if coverage is None:
        return ()
    stages = " -> ".join(results.stages) or "none"
    judged = f"{len(coverage.checked)} checked here, {len(coverage.predicted)} predicted"
    rest = [(len(ids), why) for why, ids in coverage.unjudged.items()]
    rest.sort(reverse=True)
    rest += [(len(coverage.at_launch), "only visible at launch"), (len(coverage.nowhere), "in no check and no log")]
    parts = ", ".join(f"{count} {why}" for count, why in rest if count)
    head = f"{coverage.judged} of {coverage.faults} faults at stage {stages}: {judged}"
    lines = [head, f"not covered {coverage.faults - coverage.judged}" + (f": {parts}" if parts else "")]
    if coverage.unverified:
        number = len(coverage.unverified)
        outputs = "1 output" if number == 1 else f"{number} outputs"
        lines.append(f"format unverified of {outputs} that were judged: no public capture of such a machine shows them")
    return tuple(lines)


def waiver_notes(results: RunResults) -> list[str]:
    """What is to be said of waivers that did not help; of those that did, the waived finding says it."""
    said = {
        WaiverState.EXPIRED: "expired on {until} and helps no more",
        WaiverState.UNKNOWN: "waives nothing: there is no such id",
        WaiverState.MET_NOTHING: "met nothing",
    }
    return [
        " ".join((_waiver(waiver), said[waiver.state].format(until=waiver.until)))
        for waiver in results.waivers
        if waiver.state in said
    ]


def _waiver(waiver: WaiverRecord) -> str:
    return f"waiver {waiver.id}" + (f" on {waiver.node}" if waiver.node else "")


def _place(finding: FindingRecord) -> Place:
    return Place(finding.node or "the whole deployment", finding.found, finding.expected, finding.remedy)


def _counted(reasons: Iterable[str]) -> list[tuple[str, int]]:
    return Counter(reason or "no reason given" for reason in reasons).most_common()
