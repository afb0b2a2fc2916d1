"""Coverage is what the tests of a run said about the known faults, and nothing that was only planned."""

from __future__ import annotations

import pytest

from selftests.report.runs import Run
from selftests.report.samples import a_test, finding, run
from shakedown.faults.catalogue import Entry, Status, known_faults, lookup
from shakedown.outcomes import Severity, Stage
from shakedown.report.coverage import BEHIND, BROKE, NOT_HERE, NOT_RUN, UNREADABLE, coverage
from shakedown.report.html import page
from shakedown.report.results import CheckResult, Coverage, Outcome
from shakedown.report.terminal import summary

PASSED = a_test("a", Outcome.PASSED)
FAILED = a_test("b", Outcome.FAILED, finding=finding())
WARNED = a_test("c", Outcome.FINDING, finding=finding(severity=Severity.WARNING))
WAIVED = a_test("d", Outcome.XFAILED, finding=finding(), reason="until the move")
LATER = a_test("e", Outcome.SKIPPED, silent="for stage ray")
NOT_SO = a_test("f", Outcome.SKIPPED, reason="no RDMA is declared")
BLOCKED = a_test("g", Outcome.SKIPPED, silent=BEHIND)
BROKEN = a_test("h", Outcome.ERROR, reason="ValueError: boom")
CRASHED = a_test("i", Outcome.FAILED, reason="ValueError: boom")
MUTE = a_test("j", Outcome.FAILED, finding=finding(), silent=UNREADABLE)


def fault(status: Status) -> Entry:
    return lookup("NET-01").model_copy(update={"status": status, "seen_in": "the serve log"})


@pytest.mark.parametrize("spoke", [PASSED, FAILED, WARNED, WAIVED], ids=lambda test: test.outcome)
def test_a_claim_that_was_judged_covers_its_fault_whatever_came_out(spoke: CheckResult) -> None:
    assert coverage([spoke], [fault("checked")]).checked == ("NET-01",)
    assert coverage([spoke], [fault("predicted")]).predicted == ("NET-01",)


@pytest.mark.parametrize(
    ("tests", "why"),
    [
        ([], NOT_RUN),
        ([LATER], "for stage ray"),
        ([NOT_SO], NOT_HERE),
        ([NOT_SO, LATER], "for stage ray"),
        ([PASSED, BLOCKED], BEHIND),
        ([PASSED, BROKEN], BROKE),
        ([PASSED, CRASHED], BROKE),
        ([PASSED, MUTE], UNREADABLE),
        ([BLOCKED, MUTE, BROKEN], BROKE),
    ],
)
def test_what_is_silent_on_one_node_covers_nothing(tests: list[CheckResult], why: str) -> None:
    assert coverage(tests, [fault("checked")]) == Coverage(unjudged={why: ("NET-01",)})


@pytest.mark.parametrize("besides", [LATER, NOT_SO])
def test_checks_of_another_stage_or_another_kind_of_hardware_take_nothing_away(besides: CheckResult) -> None:
    assert coverage([PASSED, besides], [fault("checked")]).judged == 1


def test_what_no_check_can_find_is_never_counted_as_covered() -> None:
    assert coverage([], [fault("watched")]) == Coverage(at_launch=("NET-01",))
    assert coverage([], [fault("unknowable")]) == Coverage(nowhere=("NET-01",))


def test_every_known_fault_is_in_exactly_one_list() -> None:
    assert coverage([PASSED], known_faults()).faults == len(known_faults())


def test_terminal_and_page_say_the_same_numbers() -> None:
    told = Coverage(
        checked=("NET-01", "NET-05"),
        predicted=("MEM-04",),
        at_launch=("NET-17", "SRV-02"),
        nowhere=("RAY-14",),
        unjudged={NOT_HERE: ("NET-08",), "for stage ray": ("RAY-01", "RAY-03")},
    )
    results = run(PASSED, coverage=told, stages=(Stage.HOSTS,))
    lines = [line.text for line in summary(results)]
    assert lines[-2:] == [
        "coverage  3 of 9 faults at stage hosts: 2 checked here, 1 predicted",
        "          not covered 6: 2 for stage ray, 1 not applicable here, 2 only visible at launch, "
        "1 in no check and no log",
    ]
    html = page(results)
    assert "3 of 9 faults at stage hosts" in html
    assert "RAY-01, RAY-03" in html


def test_what_a_bundle_shows_unverified_is_counted_and_listed() -> None:
    told = Coverage(
        checked=("NET-01",), unverified=("ldconfig -p: no capture was found", "/proc/swaps: as Linux has it")
    )
    results = run(PASSED, coverage=told)
    assert [line.text for line in summary(results)][-1] == (
        "          format unverified of 2 outputs that were judged: no public capture of such a machine shows them"
    )
    assert told.faults == 1
    assert "<li>/proc/swaps: as Linux has it</li>" in page(results)


TESTS = """
STAGES = ("ray",)
pytestmark = pytest.mark.infra

@pytest.mark.check("NET-01", stages=STAGES)
def test_nic(node, claim): claim(node.name == "node-a", found="down", expected="up")

@pytest.mark.check("NET-05", stages=STAGES, needs=("NET-01",))
def test_behind(node, claim): claim(True, found="", expected="")

@pytest.mark.check("NET-06", stages=("hosts", "ray", "serving"))
def test_holds(claim): claim(True, found="", expected="")

@pytest.mark.check("RAY-05", stages=("hosts",))
def test_earlier(claim): claim(True, found="", expected="")

@pytest.mark.check("SRV-01", stages=("serving",))
def test_later(claim): claim(True, found="", expected="")

@pytest.mark.check("NET-07", stages=STAGES)
def test_not_so(claim): pytest.skip("no jumbo frames are declared")

@pytest.mark.check("NET-13", stages=STAGES)
def test_unreadable(claim):
    from shakedown.errors import EvidenceError
    raise claim.unreadable(EvidenceError("no answer"))
"""


def test_a_run_tells_its_coverage_and_keeps_it(run: Run) -> None:
    ran = run(TESTS)
    told = ran.results.coverage
    assert told is not None
    assert told.checked == ("NET-01", "NET-06")
    assert {why: ids for why, ids in told.unjudged.items() if why != NOT_RUN} == {
        BEHIND: ("NET-05",),
        "for stage hosts": ("RAY-05",),
        "for stage serving": ("SRV-01",),
        NOT_HERE: ("NET-07",),
        UNREADABLE: ("NET-13",),
    }
    assert f"coverage  2 of {len(known_faults())} faults at stage ray: 2 checked here, 0 predicted" in ran.text


def test_a_run_without_infra_says_nothing_of_faults(run: Run) -> None:
    ran = run(TESTS.replace("mark.infra", "mark.perf"))
    assert ran.results.coverage is None
    assert "coverage" not in ran.text
