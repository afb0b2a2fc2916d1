"""A small project of its own for each test, with the real hooks and a deployment whose stage the test decides."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "shakedown" / "simulator" / "deployment.toml"

CONFTEST = """
import pytest

pytest_plugins = [
    "fixtures.hooks.options", "fixtures.hooks.selection", "fixtures.deployment", "fixtures.claim",
    "fixtures.hooks.nodes", "fixtures.hooks.gate",
]

@pytest.hookimpl(trylast=True)
def pytest_configure(config):
    from still import still
    still(config, {stage!r})
"""

STILL = """
from fixtures.deployment import OPENED
from fixtures.hooks.selection import SELECTION
from shakedown.errors import LaunchError
from shakedown.launch.opened import Opened
from shakedown.outcomes import Stage

class Still(Opened):
    def __init__(self, deployment, stage, startable):
        self.deployment, self.stage, self.startable = deployment, stage, startable
    def can_reach(self, stage):
        return self.startable or super().can_reach(stage)
    def reach(self, stage):
        raise LaunchError("only attached to")
    def close(self):
        pass

def still(config, stage):
    config.stash[OPENED] = Still(config.stash[SELECTION].planned, Stage(stage), config.getoption("launch"))
"""

SETTINGS = """
[tool.pytest]
strict = true
pythonpath = ["."]
asyncio_default_fixture_loop_scope = "session"
filterwarnings = ["error"]
markers = ["infra", "serving", "perf", "check", "requires"]
"""

Run = Callable[..., pytest.RunResult]


@pytest.fixture
def run(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run pytest on the given test file at a stage; further arguments are pytest's."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.delenv("SHAKEDOWN_DEPLOYMENT", raising=False)

    def runner(tests: str, *options: str, stage: str = "ray", deployment: str = str(EXAMPLE)) -> pytest.RunResult:
        pytester.makeconftest(CONFTEST.format(stage=stage))
        (pytester.path / "still.py").write_text(STILL)
        (pytester.path / "pyproject.toml").write_text(SETTINGS)
        pytester.makepyfile("import pytest\n" + dedent(tests))
        chosen = (f"--deployment={deployment}",) if deployment else ()
        return pytester.runpytest_subprocess("-rs", "-v", *chosen, *options)

    return runner
