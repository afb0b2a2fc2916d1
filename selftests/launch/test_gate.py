"""The gate stops at what the infra checks found, and at a run of them that says nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from selftests.report.samples import a_test, finding, run
from shakedown.launch import gate
from shakedown.launch.suites import SuiteRun
from shakedown.outcomes import Severity, Stage
from shakedown.report.results import CheckResult, Outcome

Ended = tuple[int, tuple[CheckResult, ...] | None]


def a_blocker(id: str, node: str | None) -> CheckResult:
    return a_test(f"test_{id}", Outcome.FAILED, check=id, node=node, finding=finding(id, node))


def passes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int, *tests: CheckResult) -> None:
    """Let the gate see a suite that ended so; without tests it left no results."""
    results = tmp_path / "results.json"
    if tests:
        run(*tests, exit_status=code).save(results)
    asked: list[tuple[str, Path]] = []

    def run_suite(marker: str, deployment: Path) -> SuiteRun:
        asked.append((marker, deployment))
        return SuiteRun(code, results if tests else None)

    monkeypatch.setattr(gate, "run_suite", run_suite)
    try:
        gate.require_sound(tmp_path / "pair.toml", Stage.RAY)
    finally:
        assert asked == [("infra", tmp_path / "pair.toml")]


def test_sound_nodes_are_gone_on_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    passes(tmp_path, monkeypatch, 0)


def test_a_gate_at_which_nothing_was_looked_at_stays_shut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(gate.GateError, match="nothing ran"):
        passes(tmp_path, monkeypatch, 5)


def test_blockers_are_named_with_their_nodes_and_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tests = (a_blocker("NET-01", "spark-b"), a_blocker("MEM-01", None), a_blocker("NET-01", "spark-b"))
    with pytest.raises(gate.GateError) as stopped:
        passes(tmp_path, monkeypatch, 1, *tests)
    assert stopped.value.blockers == ("NET-01 on spark-b", "MEM-01")
    assert stopped.value.exit_code == 12
    for part in ("stopped at stage ray", "(NET-01 on spark-b, MEM-01)", "--no-gate"):
        assert part in str(stopped.value)


def test_a_check_that_broke_is_told_as_well(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(gate.GateError) as stopped:
        passes(tmp_path, monkeypatch, 1, a_test("test_x", Outcome.ERROR, check="RAY-02", node="spark-a"))
    assert stopped.value.blockers == ("RAY-02 on spark-a",)


def test_a_warning_that_failed_the_run_is_no_blocker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    warning = a_test("test_w", Outcome.FAILED, check="PLT-07", finding=finding("PLT-07", None, Severity.WARNING))
    with pytest.raises(gate.GateError) as stopped:
        passes(tmp_path, monkeypatch, 1, warning)
    assert stopped.value.blockers == ()
    assert stopped.value.exit_code == 24


@pytest.mark.parametrize("code", [2, 3, 4, -9])
def test_checks_that_came_to_no_end_stop_the_launch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    with pytest.raises(gate.GateError, match=f"pytest ended with {code}") as stopped:
        passes(tmp_path, monkeypatch, code)
    assert stopped.value.exit_code == 24
