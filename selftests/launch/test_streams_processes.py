"""Processes that end, stop and change their titles, as a follower sees them between two looks."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from selftests.launch.following import PYTHON
from selftests.nodes.machines import eventually
from shakedown.launch.scripts.processes import LOOK_ALL_S, Processes

TITLE = "VLLM::EngineCore"
RETITLED = "import os, sys; sys.stdin.read(1); os.execl('{0}', '{1}', '-c', 'import time; time.sleep(60)')"


class Heard:
    """A channel that keeps what is sent."""

    def __init__(self) -> None:
        self.alive: dict[str, list[int]] = {}

    def send(self, kind: str, **fields: Any) -> None:
        assert kind == "procs"
        self.alive = fields["alive"]


@pytest.fixture(params=["python3", "something else"])
def engine(request: pytest.FixtureRequest) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """A process called like an engine, which takes another title when it reads a byte."""
    script = RETITLED.format(PYTHON, request.param)
    with subprocess.Popen([TITLE, "-c", script], executable=PYTHON, stdin=subprocess.PIPE, bufsize=0) as process:
        try:
            eventually(lambda: title(process).startswith(TITLE), "it has its title")
            yield process, request.param
        finally:
            process.kill()


def title(process: subprocess.Popen[bytes]) -> str:
    return Path(f"/proc/{process.pid}/cmdline").read_text()


def test_a_process_is_what_it_was_while_its_title_is_rewritten(engine: tuple[subprocess.Popen[bytes], str]) -> None:
    process, new = engine
    heard = Heard()
    processes = Processes(heard, None)  # type: ignore[arg-type]
    processes.look(0.0, 0.0)
    assert process.pid in heard.alive["engine"]
    assert process.stdin is not None
    process.stdin.write(b"x")
    eventually(lambda: title(process).startswith(new), "it has another title")
    processes.look(LOOK_ALL_S + 1, 0.0)
    assert (process.pid in heard.alive.get("engine", ())) is (new == "python3"), "what is no Python is another program"


def test_between_two_looks_only_what_matters_is_looked_at(engine: tuple[subprocess.Popen[bytes], str]) -> None:
    process, _ = engine
    processes = Processes(Heard(), None)  # type: ignore[arg-type]
    processes.look(0.0, 0.0)
    assert not processes.changed()
    os.kill(process.pid, signal.SIGSTOP)
    eventually(processes.changed, "it is stopped")
    processes.look(0.0, 0.0)
    assert not processes.changed()
    process.kill()
    eventually(processes.changed, "it has ended")
