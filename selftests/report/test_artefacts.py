"""The folder of a run, and JUnit in it."""

from __future__ import annotations

import re
import signal
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

import pytest

from selftests.report.runs import SIMULATED, Ran, Run, ended, project, start
from selftests.report.test_outcomes import TESTS
from shakedown.report.results import Outcome, RunResults, Verdict

FINE = """
@pytest.mark.infra
@pytest.mark.check("NET-01", stages=("ray",))
def test_fine(claim, run_folder):
    (run_folder / "kept.txt").write_text("kept")
    claim(True, found="", expected="")
"""
WAITS = (
    FINE
    + """
@pytest.mark.infra
@pytest.mark.check("NET-05", stages=("ray",))
def test_waits(claim):
    import pathlib, time
    pathlib.Path("now").touch()
    time.sleep(60)

@pytest.mark.infra
@pytest.mark.check("NET-06", stages=("ray",))
def test_never_begun(claim):
    claim(True, found="", expected="")
"""
)


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    folder = tmp_path_factory.mktemp("toy")
    return ended(start(project(folder, TESTS), "-m", "infra", deployment=SIMULATED), folder)


@pytest.fixture(scope="module")
def cases(toy: Ran) -> dict[str, ET.Element]:
    return {case.attrib["name"]: case for case in ET.parse(toy.latest / "junit.xml").iter("testcase")}


def properties(element: ET.Element) -> dict[str, str]:
    found = element.findall("properties/property")
    names = [one.attrib["name"] for one in found]
    assert len(names) == len(set(names))
    return {one.attrib["name"]: one.attrib["value"] for one in found}


def test_folder_holds_everything_and_latest_points_to_it(run: Run) -> None:
    ran = run(FINE, "-m", "infra")
    assert ran.code == 0
    (folder,) = (ran.reports / "runs").iterdir()
    assert re.fullmatch(r"\d{8}T\d{6}Z-pair-infra", folder.name)
    assert {file.name for file in folder.iterdir()} == {"results.json", "report.html", "junit.xml", "kept.txt"}
    assert ran.latest.is_symlink()
    assert ran.latest.readlink() == Path("runs") / folder.name
    assert ran.results.verdict is Verdict.ACCEPTED
    assert f"report  {folder / 'report.html'}" in ran.text


def test_runs_of_the_same_second_do_not_collide(tmp_path: Path) -> None:
    folder = project(tmp_path, FINE)
    runs = [start(folder) for _ in range(2)]
    assert [ended(one, folder).code for one in runs] == [0, 0]
    kept = sorted((folder / "reports" / "runs").iterdir())
    assert len(kept) == 2
    assert all((one / "results.json").exists() for one in kept)
    assert (folder / "reports" / "latest").resolve() in kept


@pytest.mark.parametrize(
    ("options", "suite"),
    [(("-m", "infra and not perf"), "some"), (("tests_infra",), "infra"), (("tests_infra", "."), "all")],
)
def test_folder_is_named_by_the_suite(options: tuple[str, ...], suite: str, tmp_path: Path) -> None:
    folder = project(tmp_path, FINE)
    (folder / "tests_infra").mkdir()
    (folder / "test_it.py").rename(folder / "tests_infra" / "test_it.py")
    ran = ended(start(folder, *options), folder)
    assert ran.code == 0
    assert ran.latest.readlink().name.endswith(f"-pair-{suite}")


@pytest.mark.parametrize("option", ["--collect-only", "--setup-plan", "--fixtures", "--help"])
def test_nothing_is_written_where_no_test_runs(option: str, run: Run) -> None:
    ran = run(FINE, option)
    assert ran.code == 0
    assert not ran.reports.exists()


def test_fixture_works_where_only_fixtures_run(run: Run) -> None:
    ran = run(FINE, "--setup-only")
    assert ran.code == 0
    assert not ran.reports.exists()


def test_nothing_is_left_where_no_session_comes_about(run: Run, tmp_path: Path) -> None:
    ran = run(FINE, deployment=tmp_path / "none.toml")
    assert ran.code == 4
    assert not ran.reports.exists()


def test_other_folder_can_be_named(run: Run, tmp_path: Path) -> None:
    ran = run(FINE, "--reports", "elsewhere/deep")
    assert ran.code == 0
    assert not ran.reports.exists()
    assert (tmp_path / "elsewhere" / "deep" / "latest" / "results.json").exists()


def test_folder_that_cannot_be_made_is_a_usage_error(run: Run, tmp_path: Path) -> None:
    (tmp_path / "reports").write_text("a file")
    ran = run(FINE)
    assert ran.code == 4
    assert f"ERROR: no run folder in {tmp_path}/reports: Not a directory; pass --reports DIR" in ran.text


def test_latest_that_is_no_link_is_left_alone_and_told(run: Run, tmp_path: Path) -> None:
    (tmp_path / "reports" / "latest").mkdir(parents=True)
    ran = run(FINE)
    assert ran.code == 0
    assert f"{tmp_path}/reports/latest does not point here: Is a directory" in ran.text
    assert list((tmp_path / "reports").glob(".latest*")) == []


def test_junit_goes_where_it_is_told(run: Run, tmp_path: Path) -> None:
    ran = run(FINE, "--junit-xml", "out.xml")
    assert (tmp_path / "out.xml").exists()
    assert not (ran.latest / "junit.xml").exists()


def test_run_without_tests_leaves_valid_results(run: Run) -> None:
    ran = run("")
    assert ran.code == 5
    assert (ran.results.verdict, ran.results.tests) == (Verdict.EMPTY, ())
    assert "EMPTY: not a single claim was judged" in ran.text


def test_file_that_cannot_be_collected_is_told(run: Run) -> None:
    ran = run("import nothing_of_this_name")
    assert ran.code == 2
    assert ran.results.verdict is Verdict.INCOMPLETE
    (error,) = ran.results.errors
    assert error.splitlines()[0] == "test_it.py cannot be collected"
    assert "No module named 'nothing_of_this_name'" in error


def test_interrupted_run_keeps_what_it_knows(interrupted: Callable[[str, signal.Signals], Ran]) -> None:
    ran = interrupted(WAITS, signal.SIGINT)
    assert ran.code == 2
    results = ran.results
    assert [(test.outcome, test.reason) for test in results.tests] == [
        (Outcome.PASSED, ""),
        (Outcome.ERROR, "cut off before it ended"),
    ]
    assert results.errors == ("cut off by KeyboardInterrupt",)
    assert (ran.latest / "report.html").exists()
    ET.parse(ran.latest / "junit.xml")


def test_killed_run_leaves_the_tests_that_had_ended(interrupted: Callable[[str, signal.Signals], Ran]) -> None:
    ran = interrupted(WAITS, signal.SIGKILL)
    (file,) = ran.reports.glob("runs/*/results.json")
    results = RunResults.model_validate_json(file.read_text())
    assert [test.outcome for test in results.tests] == [Outcome.PASSED]
    assert (results.verdict, results.finished) == (Verdict.INCOMPLETE, None)


def test_label_is_in_header_last_line_and_junit(toy: Ran) -> None:
    label = "SIMULATED: nothing is said about your machines"
    lines = toy.text.strip().splitlines()
    assert label in lines[:12]
    assert lines[-1] == label
    suite = ET.parse(toy.latest / "junit.xml").getroot().find("testsuite")
    assert suite is not None
    assert suite.attrib["name"] == "shakedown SIMULATED"
    assert properties(suite)["label"] == "SIMULATED"
    assert properties(suite)["deployment"] == toy.results.deployment.name


def test_junit_has_the_form_of_xunit2(toy: Ran) -> None:
    """The elements, their order and their attributes as the schema of Jenkins' xunit plugin has them."""
    root = ET.parse(toy.latest / "junit.xml").getroot()
    assert root.tag == "testsuites"
    (suite,) = root
    assert suite.tag == "testsuite"
    assert set(suite.attrib) == {"name", "errors", "failures", "skipped", "tests", "time", "timestamp", "hostname"}
    assert next(child.tag for child in suite) == "properties"
    for case in suite.findall("testcase"):
        assert set(case.attrib) == {"classname", "name", "time"}
        tags = [child.tag for child in case]
        assert tags[0] == "properties"
        assert set(tags[1:]) <= {"skipped", "failure", "error", "system-out", "system-err"}
    totals = toy.results.totals
    assert int(suite.attrib["failures"]) == totals[Outcome.FAILED]
    assert int(suite.attrib["errors"]) == totals[Outcome.ERROR]
    assert int(suite.attrib["skipped"]) == totals[Outcome.SKIPPED] + totals[Outcome.XFAILED]


def test_junit_names_check_node_and_severity(cases: dict[str, ET.Element]) -> None:
    found = properties(cases["test_nic[node-b]"])
    assert (found["check"], found["node"], found["severity"]) == ("NET-01", "node-b", "blocker")


def test_junit_shows_the_five_parts_of_a_failure(cases: dict[str, ET.Element]) -> None:
    failure = cases["test_nic[node-b]"].find("failure")
    assert failure is not None
    assert failure.text is not None
    labels = [line.split()[0] for line in failure.text.splitlines() if not line.startswith(" ")]
    assert labels == ["NET-01", "node", "found", "expected", "at", "remedy"]
    assert "Traceback" not in failure.text


def test_junit_carries_a_finding_that_does_not_block(cases: dict[str, ET.Element]) -> None:
    case = cases["test_mtu"]
    assert case.find("failure") is None
    assert "1500 and 9000" in properties(case)["finding"]


def test_junit_carries_metrics_with_their_unit_and_the_verdict(cases: dict[str, ET.Element]) -> None:
    found = properties(cases["test_measures"])
    assert found["metric.ttft_s.p90"] == "0.1424 s"
    assert found["metric.odd"] == "none"
    assert found["verdict"] == "PASS"
