"""A finding with a waiver in force fails nothing and is told; an old, unknown or needless waiver is told as well."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from selftests.report.runs import REAL, Ran, ended, project, start
from selftests.report.samples import a_test, finding, run
from shakedown.inventory.model import Waiver
from shakedown.report.html import page
from shakedown.report.results import Outcome, Verdict, WaiverState
from shakedown.report.terminal import summary
from shakedown.report.waivers import waiver_records

TODAY = datetime.now(UTC).date()
YESTERDAY = TODAY - timedelta(days=1)

TESTS = """
STAGES = ("hosts", "ray", "serving")
pytestmark = pytest.mark.infra

@pytest.mark.check("NET-01", stages=STAGES)
def test_nic(node, claim): claim(node.name == "node-a", found="down", expected="up")

@pytest.mark.check("NET-05", stages=STAGES, needs=("NET-01",))
def test_behind(node, claim): claim(True, found="", expected="")

@pytest.mark.check("NET-15", stages=STAGES)
def test_warning(claim): claim(False, found="wlan0", expected="fab0")

@pytest.mark.check("RAY-05", stages=("hosts",))
def test_elsewhere(claim): claim(True, found="", expected="")
"""


def waiver(id: str, until: date = TODAY, node: str | None = None) -> str:
    where = f'node = "{node}"\n' if node else ""
    return f'\n[[waiver]]\nid = "{id}"\n{where}reason = "until the move"\nuntil = {until}\n'


def ran(folder: Path, *waivers: str, options: tuple[str, ...] = ()) -> Ran:
    deployment = folder / "deployment.toml"
    deployment.write_text(REAL.read_text() + "".join(waivers))
    return ended(start(project(folder, TESTS), *options, deployment=deployment), folder)


@pytest.fixture(scope="module")
def waived(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """A run in which every kind of waiver meets its like, with warnings failing, too."""
    waivers = (
        waiver("NET-01", node="node-b"),
        waiver("NET-15"),
        waiver("NET-05"),
        waiver("RAY-05"),
        waiver("RAY-06", until=YESTERDAY),
        waiver("ZZ-99"),
    )
    return ran(tmp_path_factory.mktemp("waived"), *waivers, options=("--strict", "--junit-xml=junit.xml"))


def test_nothing_fails_and_the_verdict_says_so(waived: Ran) -> None:
    assert waived.code == 0, waived.text
    assert waived.results.verdict is Verdict.ACCEPTED
    assert waived.results.totals[Outcome.XFAILED] == 2


def test_the_finding_is_told_with_reason_and_day(waived: Ran) -> None:
    test = waived.test("test_nic[node-b]")
    assert test.outcome is Outcome.XFAILED
    assert test.reason == f"until {TODAY}: until the move"
    assert test.finding is not None
    assert test.finding.found == "down"
    assert "WAIVED NET-01" in waived.text
    assert f"  waived    until {TODAY}: until the move" in waived.text


def test_the_last_line_counts_it(waived: Ran) -> None:
    last = [line for line in waived.text.splitlines() if " passed" in line and line.startswith("=")][-1]
    assert "2 waived" in last


def test_junit_has_it_as_a_property(waived: Ran) -> None:
    xml = (waived.folder / "junit.xml").read_text()
    assert xml.count(f'<property name="waived" value="until {TODAY}: until the move"') == 2
    assert 'failures="0"' in xml


def test_what_stands_behind_a_waived_finding_is_judged(waived: Ran) -> None:
    assert waived.test("test_behind[node-b]").outcome is Outcome.PASSED


def test_a_waiver_that_does_not_help_is_told(waived: Ran) -> None:
    lines = waived.text.splitlines()
    assert "waiver NET-05 met nothing" in lines
    assert f"waiver RAY-06 expired on {YESTERDAY} and helps no more" in lines
    assert "waiver ZZ-99 waives nothing: there is no such id" in lines
    assert not any("waiver RAY-05" in line for line in lines), "its check belongs to another stage, so nobody knows"
    assert "waiver NET-05 met nothing" in (waived.latest / "report.html").read_text()


def test_results_keep_every_waiver(waived: Ran) -> None:
    states = {record.id: record.state for record in waived.results.waivers}
    assert states == {
        "NET-01": WaiverState.MET,
        "NET-15": WaiverState.MET,
        "NET-05": WaiverState.MET_NOTHING,
        "RAY-05": WaiverState.NOT_JUDGED,
        "RAY-06": WaiverState.EXPIRED,
        "ZZ-99": WaiverState.UNKNOWN,
    }


def test_an_expired_waiver_and_one_for_another_node_do_not_help(tmp_path: Path) -> None:
    told = ran(tmp_path, waiver("NET-01", until=YESTERDAY), waiver("NET-01", node="node-a"))
    assert told.code == 1
    assert told.test("test_nic[node-b]").outcome is Outcome.FAILED
    assert told.results.verdict is Verdict.REFUSED
    assert f"waiver NET-01 expired on {YESTERDAY} and helps no more" in told.text


def test_pytest_can_be_told_to_waive_nothing(tmp_path: Path) -> None:
    told = ran(tmp_path, waiver("NET-01"), options=("--runxfail",))
    assert told.test("test_nic[node-b]").outcome is Outcome.FAILED


def test_a_waiver_for_a_node_needs_a_finding_on_that_node() -> None:
    put_up_with = Waiver(id="NET-01", node="spark-a", reason="r", until=TODAY)
    tests = [a_test("a", Outcome.XFAILED, finding=finding(node="spark-b"), node="spark-b")]
    (record,) = waiver_records([put_up_with], tests, known={"NET-01"}, today=TODAY)
    assert record.state is WaiverState.NOT_JUDGED
    results = run(*tests, waivers=[record])
    assert not any("waiver" in line.text for line in summary(results))
    assert "waiver NET-01" not in page(results)
