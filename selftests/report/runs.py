"""Runs of pytest on small projects with the real hooks, in a process each, as a user has it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

from shakedown.report.results import CheckResult, RunResults

ROOT = Path(__file__).resolve().parents[2]
REAL = ROOT / "selftests" / "report" / "pair.toml"
SIMULATED = ROOT / "shakedown" / "simulator" / "deployment.toml"
LIMIT_S = 60

CONFTEST = """
import pytest

pytest_plugins = [
    "fixtures.hooks.options", "fixtures.hooks.selection", "fixtures.hooks.nodes", "fixtures.deployment",
    "fixtures.claim", "fixtures.hooks.gate",
    "fixtures.hooks.results", "fixtures.hooks.artefacts", "fixtures.hooks.summary", "opened_at_ray",
]
"""

PLUGIN = """
import pytest
from fixtures.deployment import OPENED
from fixtures.hooks.selection import SELECTION
from shakedown.launch.opened import Opened
from shakedown.outcomes import Stage

class Still(Opened):
    def __init__(self, deployment):
        self.deployment, self.stage = deployment, Stage.RAY
    def reach(self, stage):
        raise AssertionError("only attached to")
    def close(self):
        pass

@pytest.hookimpl(trylast=True)
def pytest_configure(config):
    if SELECTION in config.stash:
        config.stash[OPENED] = Still(config.stash[SELECTION].planned)
"""

SETTINGS = """
[tool.pytest]
strict = true
addopts = ["--import-mode=importlib"]
pythonpath = ["."]
asyncio_mode = "auto"
asyncio_default_fixture_loop_scope = "session"
asyncio_default_test_loop_scope = "session"
junit_family = "xunit2"
junit_suite_name = "shakedown"
filterwarnings = ["error"]
markers = ["infra", "serving", "perf", "check", "requires"]
"""


@dataclass(frozen=True)
class Ran:
    """What a run left: exit code, terminal, and the folder in which it ran."""

    code: int
    text: str
    folder: Path

    @property
    def reports(self) -> Path:
        return self.folder / "reports"

    @property
    def latest(self) -> Path:
        return self.reports / "latest"

    @property
    def results(self) -> RunResults:
        return RunResults.model_validate_json((self.latest / "results.json").read_text())

    def test(self, name: str) -> CheckResult:
        return next(test for test in self.results.tests if test.nodeid.endswith(f"::{name}"))


Run = Callable[..., Ran]


def project(folder: Path, tests: str) -> Path:
    """A folder with the hooks, the settings and one file of tests."""
    (folder / "conftest.py").write_text(CONFTEST)
    (folder / "opened_at_ray.py").write_text(PLUGIN)
    (folder / "pyproject.toml").write_text(SETTINGS)
    (folder / "test_it.py").write_text("import pytest\n" + dedent(tests))
    return folder


def start(folder: Path, *options: str, deployment: Path = REAL, key: str = "the-key-itself") -> subprocess.Popen[str]:
    """Begin a run in the folder, with that key of the server."""
    environment = {key: value for key, value in os.environ.items() if key not in ("CI", "SHAKEDOWN_DEPLOYMENT")}
    environment |= {"PYTHONPATH": f"{ROOT}{os.pathsep}{os.environ.get('PYTHONPATH', '')}", "COLUMNS": "120"}
    return subprocess.Popen(
        [sys.executable, "-m", "pytest", f"--deployment={deployment}", *options],
        cwd=folder,
        env=environment | {"SHAKEDOWN_TEST_KEY": key},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def ended(process: subprocess.Popen[str], folder: Path) -> Ran:
    """Wait for the end of a run."""
    text, _ = process.communicate(timeout=LIMIT_S)
    return Ran(process.returncode, text, folder)
