"""A suite that is run in a process of its own: its end, and the results that are its own."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from selftests.report.samples import PAIR, a_test, finding, run
from shakedown.errors import LaunchError
from shakedown.launch import suites
from shakedown.outcomes import Severity
from shakedown.report.results import DeploymentRecord, Outcome

STAND_IN = """\
#!{python}
import json, pathlib, sys
pathlib.Path("arguments").write_text(json.dumps(sys.argv[1:]))
latest = pathlib.Path("reports/latest")
if {leaves!r}:
    latest.unlink(missing_ok=True)
    latest.symlink_to({leaves!r})
sys.exit({code})
"""


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with suites in it, and an older run that is the latest."""
    monkeypatch.setattr(suites, "ROOT", tmp_path)
    (tmp_path / "conftest.py").touch()
    leave(tmp_path, "older")
    (tmp_path / "reports" / "latest").symlink_to("older")
    return tmp_path


def leave(root: Path, name: str, about: str = "pair.toml") -> None:
    """Results of a run, with one blocker."""
    folder = root / "reports" / name
    folder.mkdir(parents=True)
    record = DeploymentRecord.model_validate(PAIR | {"file": str(root / about), "label": None})
    blocker = a_test("test_it", Outcome.FAILED, finding=finding())
    run(blocker, exit_status=1, deployment=record).save(folder / "results.json")


def ended(root: Path, monkeypatch: pytest.MonkeyPatch, code: int, leaves: str = "") -> suites.SuiteRun:
    """Run a suite by a stand-in for pytest that ends with a code and points ``latest`` to a folder."""
    stand_in = root / "python"
    stand_in.write_text(STAND_IN.format(python=sys.executable, code=code, leaves=leaves))
    stand_in.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(stand_in))
    return suites.run_suite("infra", root / "pair.toml")


def test_the_suite_is_asked_for_as_an_operator_would(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert ended(root, monkeypatch, 0).verdict == "passed"
    told = (root / "arguments").read_text()
    assert told == f'["-m", "pytest", "-m", "infra", "--tier=1", "--deployment={root}/pair.toml"]'


def test_blockers_are_read_from_the_results_that_the_run_left(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    leave(root, "newer")
    done = ended(root, monkeypatch, 1, leaves="newer")
    assert done.verdict == "failed"
    assert [test.check for test in done.blockers] == ["NET-01"]


def test_an_older_run_is_not_taken_for_this_one(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = ended(root, monkeypatch, 4)
    assert (done.results, done.blockers, done.verdict) == (None, (), "pytest ended with 4")


@pytest.mark.parametrize("about", ["other.toml", ""])
def test_a_run_about_another_deployment_is_not_either(root: Path, monkeypatch: pytest.MonkeyPatch, about: str) -> None:
    leave(root, "newer", about)
    assert ended(root, monkeypatch, 1, leaves="newer").results is None


def test_results_that_are_torn_are_none(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    leave(root, "newer")
    (root / "reports" / "newer" / "results.json").write_text("{")
    assert ended(root, monkeypatch, 1, leaves="newer").results is None


def test_what_fails_a_run_and_is_no_blocker_is_not_called_one(tmp_path: Path) -> None:
    warning = a_test("test_w", Outcome.FAILED, finding=finding("PLT-07", None, Severity.WARNING))
    broken = a_test("test_e", Outcome.ERROR)
    run(warning, broken, exit_status=1).save(tmp_path / "results.json")
    assert [test.nodeid.rpartition("::")[2] for test in suites.SuiteRun(1, tmp_path / "results.json").blockers] == [
        "test_e"
    ]


def test_without_the_suites_it_is_said_where_they_should_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(suites, "ROOT", tmp_path)
    with pytest.raises(LaunchError, match=f"the suites are not at {tmp_path}"):
        suites.run_suite("infra", tmp_path / "pair.toml")
