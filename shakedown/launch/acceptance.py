"""The whole trial on the embedded deployment: every suite at the stage it is made for, in one command."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from shakedown.embedded.up import EmbeddedDeployment, Options, start
from shakedown.errors import LaunchError
from shakedown.launch.launching import attending
from shakedown.launch.live import shown
from shakedown.launch.suites import ROOT, run_suite
from shakedown.outcomes import Stage


@dataclass(frozen=True, slots=True)
class Step:
    """One line of the trial's table.

    Attributes:
        title: what was done.
        verdict: ``passed``, ``failed``, or how pytest ended.
        took_s: wall-clock seconds.
    """

    title: str
    verdict: str
    took_s: float

    @property
    def ok(self) -> bool:
        """Whether the trial may go on."""
        return self.verdict == "passed"


def run(*, keep: bool) -> int:
    """Run the trial; returns a process exit code, 0 only if every step passed.

    A blocker found by an infra run stops the trial: the stage behind it would fail for the reason already printed.
    The deployment ends with the trial, whatever ends that, unless ``keep``.
    """
    console = Console()
    console.print("shakedown acceptance: a real two-node vLLM + Ray deployment, made on this machine\n")
    began = time.monotonic()
    steps: list[Step] = []
    with start(Options(owned=not keep), console.print) as running:
        try:
            _trial(running, console, steps)
        finally:
            if keep:
                console.print(f"kept running: pytest --deployment {running.file}; python -m shakedown down ends it")
    _print_table(console, steps, time.monotonic() - began)
    return 0 if steps and all(step.ok for step in steps) else 1


def _trial(running: EmbeddedDeployment, console: Console, steps: list[Step]) -> None:
    def suite(marker: str, stage: str) -> bool:
        steps.append(_pytest(console, marker, running.file, stage))
        return steps[-1].ok

    def reach(stage: Stage, title: str) -> bool:
        steps.append(_timed(title, lambda: running.reach(stage, console.print, attending(shown)), console))
        return steps[-1].ok

    if not suite("infra", "machines up, no Ray"):
        return
    if not (reach(Stage.RAY, "Ray on both nodes") and suite("infra", "Ray up, no model")):
        return
    if not reach(Stage.SERVING, "model launched and ready"):
        return
    suite("serving", "model ready")
    suite("perf", "model ready")


def _timed(title: str, action: Callable[[], object], console: Console) -> Step:
    began = time.monotonic()
    try:
        action()
        verdict = "passed"
    except LaunchError as error:
        console.print(str(error), markup=False)
        verdict = "failed"
    return Step(title, verdict, time.monotonic() - began)


def _pytest(console: Console, marker: str, file: Path, stage: str) -> Step:
    console.rule(f"pytest -m {marker}   ({stage})")
    began = time.monotonic()
    run = run_suite(marker, file)
    return Step(f"pytest -m {marker}: {stage}", run.verdict, time.monotonic() - began)


def _print_table(console: Console, steps: list[Step], total_s: float) -> None:
    table = Table(title="EMBEDDED acceptance: nothing is said about your machines", title_justify="left")
    table.add_column("step")
    table.add_column("result")
    table.add_column("seconds", justify="right")
    for step in steps:
        table.add_row(step.title, f"[{'green' if step.ok else 'red'}]{step.verdict}", f"{step.took_s:.1f}")
    table.add_section()
    table.add_row("in all", "", f"{total_s:.1f}")
    console.print(table)
    console.print(f"reports: {ROOT / 'reports' / 'runs'}", markup=False, soft_wrap=True)
