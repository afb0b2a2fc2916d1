"""What becomes of a test in results, terminal and exit code."""

from __future__ import annotations

from pathlib import Path

import pytest

from selftests.report.runs import Ran, ended, project, start
from shakedown.report.results import Outcome, Verdict

TESTS = '''
from shakedown.errors import EvidenceError
from shakedown.outcomes import Metric

STAGES = ("hosts", "ray", "serving")
pytestmark = pytest.mark.infra

@pytest.mark.check("NET-01", stages=STAGES)
def test_nic(node, claim):
    """The fabric NIC of every node
    is up.

    And more."""
    claim(node.name == "node-a", found="fab0 is down", expected="operstate up")

@pytest.mark.check("NET-06", stages=STAGES, needs=("NET-01",))
def test_behind(node, claim):
    claim(True, found="", expected="")

@pytest.mark.check("NET-07", stages=STAGES, severity="warning")
def test_mtu(claim):
    claim(False, found="1500 and 9000", expected="the same MTU")

@pytest.mark.check("NET-13", stages=STAGES, severity="warning")
@pytest.mark.xfail(reason="until the move", strict=False)
def test_waived(claim):
    claim(False, found="x", expected="y")

@pytest.mark.check("NET-14", stages=STAGES)
@pytest.mark.xfail(reason="not any more", strict=False)
def test_waived_for_nothing(claim):
    claim(True, found="x", expected="y")

@pytest.mark.check("NET-15", stages=STAGES)
def test_crash(claim):
    import os
    key = os.environ["SHAKEDOWN_TEST_KEY"]
    print(key)
    raise ValueError(f"boom {key}")

@pytest.fixture
def no_fixture():
    raise ConnectionError("no way")

@pytest.mark.check("NET-15", stages=STAGES)
def test_setup(claim, no_fixture):
    pass

@pytest.fixture
def untidy():
    yield
    raise RuntimeError("left open")

@pytest.mark.check("NET-15", stages=STAGES)
def test_teardown(claim, untidy):
    claim(True, found="", expected="")

@pytest.mark.check("NET-05", stages=("serving",))
def test_later(claim):
    claim(True, found="", expected="")

@pytest.mark.check("NET-05", stages=STAGES)
async def test_measures(claim, measured, request):
    measured(Metric("ttft_s.p90", 0.14239, "s", better="lower", samples=40))
    measured(Metric("odd", float("nan"), "s"))
    request.node.user_properties.append(("verdict", "PASS"))
    claim(True, found="", expected="")
'''


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    folder = tmp_path_factory.mktemp("outcomes")
    return ended(start(project(folder, TESTS), "-m", "infra"), folder)


@pytest.fixture(scope="module")
def strict(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    folder = tmp_path_factory.mktemp("strict")
    return ended(start(project(folder, TESTS), "--strict"), folder)


def test_results_are_those_of_pytest(ran: Ran) -> None:
    assert ran.code == 1
    results = ran.results
    assert (results.exit_status, results.verdict) == (1, Verdict.REFUSED)
    assert results.totals == {
        Outcome.PASSED: 4,
        Outcome.FINDING: 1,
        Outcome.FAILED: 2,
        Outcome.ERROR: 2,
        Outcome.XFAILED: 1,
        Outcome.SKIPPED: 2,
    }
    assert "2 failed, 4 passed, 2 skipped, 1 xfailed, 1 xpassed, 2 errors, 1 finding in" in ran.text


def test_tests_stand_in_the_order_of_the_session(ran: Ran) -> None:
    names = [test.nodeid.partition("::")[2] for test in ran.results.tests]
    assert names[:4] == ["test_nic[node-a]", "test_nic[node-b]", "test_behind[node-a]", "test_behind[node-b]"]
    assert names[-1] == "test_measures"


def test_run_is_described(ran: Ran) -> None:
    results = ran.results
    assert (results.deployment.name, results.deployment.profile, results.deployment.label) == (
        "pair",
        "generic-pair",
        None,
    )
    assert results.suites == ("infra",)
    assert results.stages == ("ray",)
    assert results.command[-2:] == ("-m", "infra")
    assert results.duration_s is not None


def test_blocker_fails_with_all_its_parts(ran: Ran) -> None:
    test = ran.test("test_nic[node-b]")
    assert (test.outcome, test.check, test.node, test.severity) == (Outcome.FAILED, "NET-01", "node-b", "blocker")
    assert test.claim == "The fabric NIC of every node is up."
    assert test.finding is not None
    assert (test.finding.found, test.finding.expected) == ("fab0 is down", "operstate up")
    assert test.finding.symptom
    assert test.finding.remedy
    assert (test.reason, test.detail) == ("", "")


def test_what_stands_behind_a_blocker_says_so(ran: Ran) -> None:
    test = ran.test("test_behind[node-b]")
    assert (test.outcome, test.reason) == (Outcome.SKIPPED, "blocked by NET-01 on node-b")


def test_warning_is_a_finding_and_no_failure(ran: Ran) -> None:
    test = ran.test("test_mtu")
    assert (test.outcome, test.severity) == (Outcome.FINDING, "warning")
    assert test.finding is not None
    assert test.finding.found == "1500 and 9000"


def test_warning_fails_under_strict(strict: Ran) -> None:
    test = strict.test("test_mtu")
    assert (test.outcome, test.severity) == (Outcome.FAILED, "warning")
    assert test.finding is not None


def test_waiver_sees_a_warning_too(ran: Ran, strict: Ran) -> None:
    for one in (ran, strict):
        test = one.test("test_waived")
        assert (test.outcome, test.reason) == (Outcome.XFAILED, "until the move")
        assert test.finding is not None


def test_waiver_that_is_not_needed_is_told(ran: Ran) -> None:
    test = ran.test("test_waived_for_nothing")
    assert (test.outcome, test.reason) == (Outcome.PASSED, "its waiver was not needed: not any more")


def test_crash_keeps_its_traceback_without_the_key(ran: Ran) -> None:
    test = ran.test("test_crash")
    assert (test.outcome, test.finding) == (Outcome.FAILED, None)
    assert test.reason == "ValueError: boom [redacted]"
    assert "raise ValueError" in test.detail
    for file in ("results.json", "report.html", "junit.xml"):
        text = (ran.latest / file).read_text()
        assert "boom [redacted]" in text
        assert "the-key-itself" not in text
    assert "the-key-itself" not in ran.text


def test_broken_fixture_is_an_error(ran: Ran) -> None:
    test = ran.test("test_setup")
    assert (test.outcome, test.reason) == (Outcome.ERROR, "ConnectionError: no way")


def test_broken_tear_down_is_an_error_whatever_was_claimed(ran: Ran) -> None:
    test = ran.test("test_teardown")
    assert (test.outcome, test.reason) == (Outcome.ERROR, "tear-down: RuntimeError: left open")


def test_other_stage_is_skipped_with_its_reason(ran: Ran) -> None:
    test = ran.test("test_later")
    assert (test.outcome, test.reason) == (Outcome.SKIPPED, "stage is ray; this is checked at serving")


def test_metrics_and_verdict_of_a_coroutine_are_kept(ran: Ran) -> None:
    test = ran.test("test_measures")
    first, second = test.metrics
    assert (first.name, first.value, first.unit, first.better, first.samples) == (
        "ttft_s.p90",
        0.14239,
        "s",
        "lower",
        40,
    )
    assert (second.value, second.note) == (None, "measured as nan")
    assert test.verdict == "PASS"


def test_terminal_tells_each_finding_once_and_without_traceback(ran: Ran) -> None:
    assert ran.text.count("fab0 is down") == 1
    assert ran.text.count("1500 and 9000") == 1
    failures, _, summary = ran.text.partition("shakedown: pair (generic-pair), infra, stage ray")
    assert "test_crash" in failures
    assert "test_nic" not in failures.partition("FAILURES")[2]
    assert "BLOCKER NET-01" in summary
    assert "WARNING NET-07" in summary
    assert "    1  blocked by NET-01 on node-b" in summary
    assert "report  " in summary
    assert "nothing is said about" not in ran.text


def test_letter_of_a_finding_is_its_own(ran: Ran) -> None:
    progress = next(line for line in ran.text.splitlines() if line.startswith("test_it.py "))
    assert progress.split()[1] == ".F.swxXFE.Es."


UNREACHABLE = """
from shakedown.errors import NodeUnreachableError
pytestmark = pytest.mark.infra

@pytest.fixture
def nodes():
    raise NodeUnreachableError("node-b does not answer\\nis it up?")

@pytest.mark.check("NET-01", stages=("ray",))
def test_first(nodes, claim): claim(True, found="", expected="")
"""


def test_what_was_written_for_the_operator_is_told_once_and_without_a_traceback(tmp_path: Path) -> None:
    ran = ended(start(project(tmp_path, UNREACHABLE)), tmp_path)
    assert ran.test("test_first").reason == "node-b does not answer\nis it up?"
    assert "REFUSED: nothing was judged: node-b does not answer" in ran.text
    assert ran.text.count("is it up?") == 1
    assert "NodeUnreachableError" not in ran.text


def test_a_key_that_is_a_letter_blots_no_words(tmp_path: Path) -> None:
    """A server that wants any key at all is given `x` or the like."""
    ran = ended(start(project(tmp_path, TESTS), "-k", "test_nic", key="e"), tmp_path)
    finding = ran.test("test_nic[node-b]").finding
    assert finding is not None
    assert finding.expected == "operstate up"
    assert "[redacted]" not in ran.text
