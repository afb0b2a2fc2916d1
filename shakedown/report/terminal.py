"""The end of a run as lines for a terminal: what blocks and what to do about it, then everything else, briefly."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from shakedown.report.matrix import lines, matrix
from shakedown.report.results import MetricRecord, RunResults, Verdict
from shakedown.report.timeline import in_a_line
from shakedown.report.unread import Unread, unread
from shakedown.report.words import (
    NOTHING_SAID,
    Trouble,
    broken,
    coverage_text,
    judged,
    lasted,
    quantity,
    sentence,
    skip_reasons,
    tally,
    troubles,
    waiver_notes,
)
from shakedown.text import printable

Tone = Literal["plain", "heading", "good", "bad", "warn"]
INDENT = " " * 12
MOST_PLACES = 8
MOST_REMEDIES = 2
MOST_REASONS = 4
_TONE_OF: dict[Verdict, Tone] = {
    Verdict.ACCEPTED: "good",
    Verdict.REFUSED: "bad",
    Verdict.INCOMPLETE: "bad",
    Verdict.EMPTY: "warn",
}


@dataclass(frozen=True, slots=True)
class Line:
    """One line, and how it is meant; colours are the terminal's affair."""

    text: str
    tone: Tone = "plain"


def summary(results: RunResults) -> Iterator[Line]:
    """All lines of the summary, without the one about the label (see `label_line`).

    What a node or a server said is in it, so that nothing but printable characters leaves this function.
    """
    for line in _summary(results):
        yield Line(printable(line.text), line.tone)


def label_line(results: RunResults) -> Line | None:
    """The last line of a run on the embedded or the simulated deployment; None on real machines."""
    label = results.deployment.label
    return Line(f"{label}: {NOTHING_SAID}", "warn") if label else None


def _summary(results: RunResults) -> Iterator[Line]:
    yield from _verdict(results)
    found, silent = troubles(results), unread(results)
    for blocks in (True, False):
        for trouble in found:
            if trouble.blocks is blocks:
                yield from _trouble(trouble)
        for group in silent:
            if group.blocks is blocks:
                yield from _unread(group)
    yield from _differences(results)
    yield from _waivers(results)
    yield from _broken(results)
    yield from _skipped(results)
    yield from _metrics(results)
    yield from _start(results)
    yield from _coverage(results)


def _verdict(results: RunResults) -> Iterator[Line]:
    tone = _TONE_OF[results.verdict]
    yield Line(f"{results.verdict.upper()}: {sentence(results)}", tone)
    duration = f" in {lasted(results.duration_s)}" if results.duration_s is not None else ""
    yield Line(f"{tally(results)}{duration}")


def _trouble(trouble: Trouble) -> Iterator[Line]:
    finding = trouble.finding
    word = "waived" if trouble.waived else finding.severity
    yield Line("")
    yield Line(f"{word.upper()} {finding.id}  {finding.title}", "bad" if trouble.blocks else "warn")
    for place in trouble.places[:MOST_PLACES]:
        yield from _part("node", place.node)
        yield from _part("found", place.found)
        yield from _part("expected", place.expected)
    if len(trouble.places) > MOST_PLACES:
        yield from _part("", f"and {len(trouble.places) - MOST_PLACES} more, see the report")
    yield from _part("at launch", finding.symptom)
    yield from _remedies(trouble)
    if trouble.waived:
        yield from _part("waived", trouble.waived)


def _remedies(trouble: Trouble) -> Iterator[Line]:
    """The first ones, where they differ from node to node in names and addresses."""
    remedies = trouble.remedies
    for number, (nodes, remedy) in enumerate(remedies[:MOST_REMEDIES]):
        heading = f"on {', '.join(nodes)}:\n" if len(remedies) > 1 else ""
        yield from _part("" if number else "remedy", heading + remedy.strip())
    more = [node for nodes, _ in remedies[MOST_REMEDIES:] for node in nodes]
    if more:
        yield from _part("", f"on {', '.join(more)} likewise, with their own names and addresses: see the report")


def _unread(group: Unread) -> Iterator[Line]:
    """What failed the run in its parts; what did not in one line, for it stands there in every run of such a user."""
    which = f"{', '.join(group.ids)} on {', '.join(group.nodes)}"
    if not group.blocks:
        waived = f" (waived {group.waived})" if group.waived else ""
        yield Line("")
        yield Line(f"not judged  {which}: {group.remedy or '; '.join(group.reasons)}{waived}", "warn")
        return
    yield Line("")
    yield Line(f"{group.severity.upper()} not judged  {which}", "bad")
    more = len(group.reasons) - MOST_REASONS
    reasons = [*group.reasons[:MOST_REASONS], *([f"and {more} more, see the report"] if more > 0 else [])]
    yield from _part("why", "\n".join(reasons))
    if group.remedy:
        yield from _part("to judge", group.remedy)


def _part(label: str, text: str) -> Iterator[Line]:
    first, *rest = text.strip().split("\n")
    yield Line(f"  {label:<10}{first}")
    for line in rest:
        yield Line(f"{INDENT}{line}")


def _waivers(results: RunResults) -> Iterator[Line]:
    notes = waiver_notes(results)
    if notes:
        yield Line("")
    for note in notes:
        yield Line(note, "warn")


def _broken(results: RunResults) -> Iterator[Line]:
    tests = broken(results)
    if tests or results.errors:
        yield Line("")
        yield Line("could not be carried out", "bad")
    for test in tests:
        yield from _part(test.outcome, f"{test.nodeid}\n{test.reason}".rstrip())
    for error in results.errors:
        yield from _part("outside", error)


def _skipped(results: RunResults) -> Iterator[Line]:
    reasons = skip_reasons(results)
    if reasons:
        yield Line("")
        yield Line("skipped", "heading")
    for count, reason in reasons:
        yield Line(f"{count:>5}  {reason.splitlines()[0]}")


def _metrics(results: RunResults) -> Iterator[Line]:
    tests = [test for test in results.tests if test.metrics]
    if not tests:
        return
    yield Line("")
    yield Line("measured", "heading")
    metrics = [metric for test in tests for metric in test.metrics]
    name_width = max(len(metric.name) for metric in metrics)
    value_width = max(len(quantity(metric)) for metric in metrics)
    for test in tests:
        yield Line(f"  {_short(test.nodeid)}  {judged(test)}".rstrip())
        for metric in test.metrics:
            row = f"    {metric.name:<{name_width}}  {quantity(metric):>{value_width}}  {_remark(metric)}"
            yield Line(row.rstrip())


def _start(results: RunResults) -> Iterator[Line]:
    if results.start is not None:
        yield Line("")
        yield Line(f"start  {in_a_line(results.start)}")


def _differences(results: RunResults) -> Iterator[Line]:
    told = list(lines(matrix(results)))
    if told:
        yield Line("")
        yield Line("what differs between the nodes", "heading")
    for line in told:
        yield Line(f"  {line}")


def _coverage(results: RunResults) -> Iterator[Line]:
    said = coverage_text(results)
    if said:
        yield Line("")
        yield Line(f"coverage  {said[0]}", "heading")
    for line in said[1:]:
        yield Line(f"          {line}")


def _remark(metric: MetricRecord) -> str:
    samples = f"n = {metric.samples}" if metric.samples is not None else ""
    return "; ".join(filter(None, (samples, metric.note)))


def _short(nodeid: str) -> str:
    return nodeid.rpartition("::")[2].removeprefix("test_")
