"""The commands of the README work wherever the deployment file lies and however it is given."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from selftests.hooks.conftest import EXAMPLE, ROOT


def collect(*arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {key: value for key, value in os.environ.items() if key not in ("CI", "SHAKEDOWN_DEPLOYMENT")}
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", *arguments]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120, check=False)


def test_a_file_outside_the_suite_may_be_the_next_word(tmp_path: Path) -> None:
    file = tmp_path / "pair.toml"
    file.write_text(EXAMPLE.read_text())
    done = collect("-m", "infra", "--deployment", str(file))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "tests_infra" in done.stdout


@pytest.mark.parametrize("suite", ["infra", "serving", "perf"])
def test_each_folder_is_collected_alone(suite: str) -> None:
    done = collect("--deployment=simulated", f"tests_{suite}")
    assert done.returncode == 0, done.stdout + done.stderr
    tests = [line for line in done.stdout.splitlines() if "::" in line]
    assert tests
    assert all(line.startswith(f"tests_{suite}/") for line in tests)
