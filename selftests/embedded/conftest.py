"""Deployments of tests have a state folder of their own, and none outlives its test."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from shakedown.embedded import state
from shakedown.embedded.machine import ROOT

Cli = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def runtime(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Folder that holds the state of this test's deployments."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    yield tmp_path
    for folder in state.known():
        folder.remove()


@pytest.fixture
def cli(runtime: Path) -> Iterator[Cli]:
    """Starts a command of `shakedown` in a process of its own; ended with the test."""
    started: list[subprocess.Popen[str]] = []

    def run(*arguments: str, module: str = "shakedown") -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-m", module, *arguments],
            cwd=ROOT,
            env=os.environ | {"XDG_RUNTIME_DIR": str(runtime)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        started.append(process)
        return process

    yield run
    for process in started:
        with process:
            process.kill()
