"""Fixtures that run pytest on a small project; what they give is in `runs.py`."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from selftests.report.runs import LIMIT_S, REAL, Ran, Run, ended, project, start


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Run pytest on the given tests; further arguments are pytest's."""

    def runner(tests: str, *options: str, deployment: Path = REAL) -> Ran:
        return ended(start(project(tmp_path, tests), *options, deployment=deployment), tmp_path)

    return runner


@pytest.fixture
def interrupted(tmp_path: Path) -> Callable[[str, signal.Signals], Ran]:
    """Run pytest until a test has made the file ``now``, then send the signal."""

    def runner(tests: str, sent: signal.Signals) -> Ran:
        process = start(project(tmp_path, tests))
        deadline = time.monotonic() + LIMIT_S
        while not (tmp_path / "now").exists():
            assert process.poll() is None, process.communicate()[0]
            assert time.monotonic() < deadline
            time.sleep(0.05)
        process.send_signal(sent)
        return ended(process, tmp_path)

    return runner
