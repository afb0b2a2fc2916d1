"""A suite run as the operator would run it, in a process of its own: the gate before a stage, a step of the trial."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from shakedown.errors import LaunchError
from shakedown.outcomes import Severity
from shakedown.report.results import CheckResult, Outcome, RunResults

ROOT = Path(__file__).resolve().parents[2]
"""Where the suites lie: beside the library."""

PASSED, FAILED, NOTHING_COLLECTED = 0, 1, 5
"""Exit codes of pytest.
Source: https://docs.pytest.org/en/stable/reference/exit-codes.html"""


@dataclass(frozen=True, slots=True)
class SuiteRun:
    """What became of it.

    Attributes:
        code: pytest's exit code.
        results: the file that it left; None where it left none.
    """

    code: int
    results: Path | None

    @property
    def verdict(self) -> str:
        """``passed``, ``failed``, or how pytest ended."""
        known = {PASSED: "passed", FAILED: "failed", NOTHING_COLLECTED: "nothing ran"}
        return known.get(self.code, f"pytest ended with {self.code}")

    @property
    def blockers(self) -> tuple[CheckResult, ...]:
        """Its failed checks, in the order in which they ran."""
        if self.results is None:
            return ()
        run = RunResults.model_validate_json(self.results.read_text(encoding="utf-8"))
        return tuple(test for test in run.tests if _blocks(test))


def run_suite(marker: str, deployment: Path, *, tier: int = 1) -> SuiteRun:
    """Run ``pytest -m MARKER`` on a deployment; its output goes where this process's does.

    Args:
        marker: ``infra``, ``serving`` or ``perf``.
        deployment: the deployment file.
        tier: how much the infra checks may do.

    Raises:
        LaunchError: the suites do not lie beside the library.
    """
    if not (ROOT / "conftest.py").is_file():
        raise LaunchError(f"the suites are not at {ROOT}: run shakedown from its own folder, installed with `pip -e`")
    latest = ROOT / "reports" / "latest"
    before = latest.resolve() if latest.exists() else None
    command = [sys.executable, "-m", "pytest", "-m", marker, f"--tier={tier}", f"--deployment={deployment.resolve()}"]
    code = subprocess.run(command, cwd=ROOT, check=False).returncode
    after = latest.resolve() / "results.json" if latest.exists() and latest.resolve() != before else None
    return SuiteRun(code, after if after is not None and _is_about(after, deployment) else None)


def _is_about(results: Path, deployment: Path) -> bool:
    """Whether a run was about this deployment: somebody else may have finished another at the same time."""
    try:
        run = RunResults.model_validate_json(results.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return run.deployment.file == str(deployment.resolve())


def _blocks(test: CheckResult) -> bool:
    return test.outcome is Outcome.ERROR or (
        test.outcome is Outcome.FAILED and test.finding is not None and test.finding.severity is Severity.BLOCKER
    )
