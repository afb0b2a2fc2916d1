"""The serving suite as a user runs it on the simulator: what is sent, in which order, and what a finding says."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from shakedown.report.results import CheckResult, RunResults
from shakedown.serving.corpus import Corpus

ROOT = Path(__file__).parents[2]
LIMIT_S = 120


@dataclass(frozen=True)
class Run:
    """One run of pytest in a process of its own."""

    text: str
    results: RunResults
    corpus: Corpus

    def only(self, check: str) -> CheckResult:
        """The one test of a check."""
        (found,) = (test for test in self.results.tests if test.check == check)
        return found


def run(folder: Path, *options: str) -> Run:
    command = [sys.executable, "-m", "pytest", "-m", "serving", "--deployment=simulated", f"--reports={folder}"]
    environment = {key: value for key, value in os.environ.items() if key not in ("CI", "SHAKEDOWN_DEPLOYMENT")}
    done = subprocess.run(
        [*command, *options],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    text = done.stdout + done.stderr
    latest = folder / "latest"
    assert (latest / "results.json").is_file(), text
    results = RunResults.model_validate_json((latest / "results.json").read_text(encoding="utf-8"))
    return Run(text, results, Corpus.load(latest / "corpus.jsonl.gz"))


def test_only_what_the_selected_tests_judge_is_sent_and_what_provokes_the_server_last(tmp_path: Path) -> None:
    done = run(tmp_path, "-k", "test_oversize or test_server_is_alive or test_nobody_gets or test_all_ways", "--seed=5")
    names = [exchange.name.split("/")[0] for exchange in done.corpus.exchanges]
    assert list(dict.fromkeys(names)) == ["counted_messages", "nonces", "oversize", "canary"]
    assert {test.outcome for test in done.results.tests} == {"passed"}
    assert "--seed 5" in done.text


def test_a_finding_says_what_was_found_and_what_to_do(tmp_path: Path) -> None:
    done = run(tmp_path, "-k", "test_cut_off_thinking and whole", "--simulate=truncated-thinking-as-content")
    finding = done.only("RE-04").finding
    assert finding is not None
    assert finding.found.startswith("2 of 2 responses:")
    assert "content is" in finding.found
    assert "max_tokens" in finding.remedy
    assert any("35296" in source for source in finding.source)
