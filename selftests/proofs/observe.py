"""Run a suite with one fault present, as a user would, and see which checks fail."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from selftests.proofs.gb10 import costume
from selftests.proofs.model import Clean, Fault, Mechanism, Pair
from shakedown.embedded.up import Options, start
from shakedown.inventory.write import write_deployment
from shakedown.nodes.evidence import Evidence
from shakedown.outcomes import Stage
from shakedown.report.results import RunResults
from shakedown.simulator.deployment import FILE as SIMULATED_FILE
from shakedown.simulator.deployment import bundle_of

ROOT = Path(__file__).resolve().parents[2]
LIMIT_S = 300
"""A suite run takes well under a minute; one that hangs is a failed proof, not a hung one."""


@dataclass(frozen=True, slots=True)
class Observation:
    """What a run showed.

    Attributes:
        failed: ids of checks of which at least one test raised its finding.
        passed: ids of checks of which at least one test passed and none failed.
        fired: the tests that raised a finding, without parameters.
        broken: tests that ended otherwise, as by an error of their own; such a run proves nothing.
        took_s: wall-clock seconds of the run, a spin-up included.
        text: what the operator saw.
    """

    failed: frozenset[str]
    passed: frozenset[str]
    fired: frozenset[str]
    broken: frozenset[str]
    took_s: float
    text: str


def observe(fault: Fault, workdir: Path) -> Observation:
    """Run the suite of a fault with the fault present."""
    began = time.monotonic()
    state: tuple[str, ...] = ()
    if fault.baseline:
        stage = Stage(fault.stage)
        state = _record_baseline(fault.suite, (*healthy(fault.mechanism, stage), *fault.options), workdir)
    with _faulty(fault, workdir) as options:
        text, results = run_suite(fault.suite, [*options, *fault.options, *state], workdir)
    return _observation(results, text, time.monotonic() - began)


def observe_clean(clean: Clean, workdir: Path) -> Observation:
    """Run a suite on something healthy."""
    began = time.monotonic()
    state = _record_baseline(clean.suite, clean.options, workdir) if clean.baseline else ()
    text, results = run_suite(clean.suite, [*clean.options, *state], workdir)
    return _observation(results, text, time.monotonic() - began)


def healthy(mechanism: Mechanism, stage: Stage, pair: Pair = "embedded") -> tuple[str, ...]:
    """The pytest options that choose the healthy deployment of a mechanism."""
    if mechanism == "bundle":
        file, bundle = recorded(pair, stage)
        return ("--deployment", str(file), "--replay", str(bundle))
    return ("--deployment", "simulated" if mechanism == "simulator" else "embedded", "--stage", stage)


def recorded(pair: Pair, stage: Stage) -> tuple[Path, Path]:
    """Deployment file and healthy bundle of a recorded pair."""
    if pair == "gb10":
        return costume.FILE, costume.bundle_of(stage)
    return SIMULATED_FILE, bundle_of(stage)


def _record_baseline(suite: str, options: Sequence[str], workdir: Path) -> tuple[str, ...]:
    """Record a healthy run; returns the options with which a later run is held against it."""
    state = ("--state", str(workdir / "state"))
    text, results = run_suite(suite, [*options, *state, "--record-baseline"], workdir)
    failed = [test.nodeid for test in results.tests if test.outcome in ("failed", "error")]
    if failed:
        raise AssertionError(f"the healthy run that is to be recorded failed {failed}:\n{text}")
    return state


def run_suite(suite: str, options: Sequence[str], workdir: Path) -> tuple[str, RunResults]:
    """One pytest run in a process of its own; what it printed, and its results.

    Raises:
        AssertionError: it left no results, so nothing can be concluded.
    """
    reports = Path(tempfile.mkdtemp(prefix="reports-", dir=workdir))  # of this run alone
    command = [sys.executable, "-m", "pytest", "-m", suite, "--strict", "--reports", str(reports), *options]
    environment = {key: value for key, value in os.environ.items() if key not in ("CI", "SHAKEDOWN_DEPLOYMENT")}
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=LIMIT_S, check=False
    )
    text = done.stdout + done.stderr
    found = list(reports.glob("latest/results.json"))
    if not found:
        raise AssertionError(f"{' '.join(command)} left no results (exit {done.returncode}):\n{text}")
    return text, RunResults.model_validate_json(found[0].read_text(encoding="utf-8"))


@contextmanager
def _faulty(fault: Fault, workdir: Path) -> Iterator[list[str]]:
    if fault.mechanism == "bundle":
        file, bundle = recorded(fault.pair, Stage(fault.stage))
        declared = _declared(fault, file, workdir) if fault.declared else file
        yield ["--deployment", str(declared), "--replay", str(_changed_bundle(fault, bundle, workdir))]
    elif fault.mechanism == "simulator":
        yield [*healthy(fault.mechanism, Stage.SERVING), "--simulate", fault.name]
    else:
        with start(Options(fault=fault.name, owned=True), lambda _: None) as running:
            running.reach(Stage(fault.stage), lambda _: None)
            yield ["--deployment", str(running.file)]


def _declared(fault: Fault, file: Path, workdir: Path) -> Path:
    """The deployment file with what a fault declares otherwise."""
    document = tomllib.loads(file.read_text(encoding="utf-8"))
    for dotted, value in fault.declared.items():
        *tables, key = dotted.split(".")
        table = document
        for name in tables:
            table = table.setdefault(name, {})
        table[key] = value
    changed = workdir / "declared.toml"
    write_deployment(document, changed)
    return changed


def _changed_bundle(fault: Fault, bundle: Path, workdir: Path) -> Path:
    assert fault.inject is not None, f"{fault.name}: a bundle fault changes the evidence"
    evidence = Evidence.load(bundle)
    fault.inject(evidence)
    file = workdir / "changed.json.gz"
    evidence.save(file)
    return file


def _observation(results: RunResults, text: str, took_s: float) -> Observation:
    unwell = [test for test in results.tests if test.outcome in ("failed", "error")]
    fired = [test for test in unwell if test.outcome == "failed" and test.finding]
    failed = frozenset(test.check for test in fired if test.check)
    return Observation(
        failed=failed,
        passed=frozenset(test.check for test in results.tests if test.check and test.outcome == "passed") - failed,
        fired=frozenset(test.nodeid.partition("[")[0] for test in fired),
        broken=frozenset(test.nodeid for test in unwell if test not in fired),
        took_s=took_s,
        text=text,
    )
