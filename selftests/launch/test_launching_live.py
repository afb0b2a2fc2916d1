"""One real launch in two steps, followed by a pytest run that did not begin it: all three agree on how it went."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from selftests.embedded.conftest import Cli, cli, runtime
from shakedown.embedded.machine import ROOT
from shakedown.launch.attend import LATEST
from shakedown.launch.history import FILE
from shakedown.launch.status import State, from_json
from shakedown.report.results import RunResults, Verdict

__all__ = ["cli", "runtime"]

pytestmark = pytest.mark.embedded

MADE = re.compile(r"^ray: (.+)$", re.MULTILINE)


def with_state(file: Path, state: Path) -> Path:
    """The deployment file, with records of its own."""
    copy = file.with_name("with-state.toml")
    copy.write_text(file.read_text().replace("[deployment]\n", f'[deployment]\nstate = "{state}"\n', 1))
    return copy


def suite(file: Path, reports: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Run pytest on the deployment as an operator would."""
    command = [sys.executable, "-m", "pytest", f"--deployment={file}", f"--reports={reports}", *options]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=180, check=False)


def results_in(reports: Path) -> RunResults:
    """Of the latest run."""
    return RunResults.model_validate_json((reports / "latest" / "results.json").read_text())


def test_a_launch_in_two_steps_is_followed_by_a_run_that_needs_it(runtime: Path, cli: Cli, tmp_path: Path) -> None:
    made, _ = cli("launch", "--until", "ray", "--no-gate").communicate(timeout=120)
    found = MADE.search(made)
    assert found, made
    file = with_state(Path(found[1]), tmp_path / "state")

    status_file, reports = tmp_path / "status.json", tmp_path / "reports"
    started = cli("launch", "--no-gate", "--deployment", str(file), "--json-status", str(status_file))
    assert started.stdout is not None
    for line in started.stdout:
        if "API process" in line:
            break
    baselines = f"--state={tmp_path / 'baselines'}"
    run = suite(file, reports, "-m", "perf", "-k", "cold_start", baselines, "--record-baseline")
    said, _ = started.communicate(timeout=60)

    assert started.returncode == 0, said
    assert f"serving: {file}" in said
    status = from_json(status_file.read_text())
    assert (status.state, status.settled) == (State.READY, True)
    assert status.first_request_s is not None

    assert run.returncode == 0, run.stdout
    for part in ("node-b: weights", "ready, first request", "\nstart  "):
        assert part in run.stdout
    results = results_in(reports)
    assert results.verdict is Verdict.EMPTY  # nothing to compare with yet
    assert results.start is not None
    later = suite(file, reports, "-m", "serving", "-k", "test_served_model_is_the_declared_one")
    assert "passed" in later.stdout, later.stdout
    assert results_in(reports).start == results.start  # found again by what the server's log says of it
    assert [node.node for node in results.start.nodes] == ["node-a", "node-b"]
    (test,) = results.tests
    assert {"total_s", "phase_weights_s", "first_request_s", "read_bytes.node-b"} <= {m.name for m in test.metrics}

    latest = json.loads((tmp_path / "state" / LATEST).read_text())
    assert latest["stamp"] == results.start.stamp
    assert len((tmp_path / "state" / FILE).read_text().splitlines()) == 1
    assert [record.name for record in (tmp_path / "baselines").iterdir()] == [
        "cold-start-weights-unknown-compile-none.json"
    ]
