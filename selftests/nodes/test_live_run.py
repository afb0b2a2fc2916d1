"""The infra suite on two real nodes: one round trip each, and nothing asked after it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from shakedown.embedded.up import Options, start
from shakedown.nodes.evidence import Evidence

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.embedded
def test_a_run_at_tier_0_asks_every_node_once(tmp_path: Path) -> None:
    """Whatever a test wanted to know had been fetched ahead: no answer of the run was asked alone."""
    kept = tmp_path / "kept.json.gz"
    with start(Options(owned=True)) as running:
        command = [sys.executable, "-m", "pytest", "-m", "infra", "-q", f"--deployment={running.file}"]
        done = subprocess.run(
            [*command, f"--evidence={kept}", f"--reports={tmp_path}"],
            cwd=ROOT,
            env={key: value for key, value in os.environ.items() if key != "CI"},
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stdout
    evidence = Evidence.load(kept)
    answers = [answer for node in evidence.nodes for answer in evidence.answers(node)]
    assert answers
    assert all(answer.ahead for answer in answers)
    assert {len({answer.asked for answer in evidence.answers(node)}) for node in evidence.nodes} == {1}
