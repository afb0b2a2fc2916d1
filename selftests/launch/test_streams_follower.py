"""The follower itself: any Python, any clock, what runs and what it uses, and nothing left when it ends."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from importlib import resources
from pathlib import Path

import pytest

from selftests.launch.following import Through, append, following
from selftests.nodes.machines import AS_ROOT_OF_ITS_OWN, eventually
from shakedown.launch import follower
from shakedown.launch.events import Contact, Counter, Logged, Opened, Processes, Sampled, Stream
from shakedown.launch.wire import MODULES, PACKAGE, script

SERVE = Stream.SERVE.value
LONGEST_ARGUMENT = 128 * 1024
"""Bytes, of one argument of a program on Linux (MAX_ARG_STRLEN)."""


@pytest.fixture
def here(tmp_path: Path) -> Through:
    return Through(tmp_path / "pid")


def test_the_script_is_one_short_argument_and_holds_every_module() -> None:
    assert len(script(("/opt/it's/python", "python3"))) < LONGEST_ARGUMENT / 4
    files = {file.name for file in resources.files(PACKAGE).iterdir() if file.name.endswith(".py")}
    assert files == {"__init__.py", *(f"{name}.py" for name in MODULES)}


@pytest.mark.parametrize("version", ["3.8", "3.9", "3.10", "3.11", "3.12", "3.13", "3.14"])
def test_any_python_will_do(version: str, tmp_path: Path, here: Through) -> None:
    asked = [f"python{version}", "-c", "import sys; print(sys.executable)"]
    found = shutil.which(asked[0]) and subprocess.run(asked, capture_output=True, text=True, check=False)
    python = found.stdout.strip() if found else ""
    if not python:
        pytest.skip(f"no Python {version} here")
    log = tmp_path / "log"
    log.write_text("hello\n")
    with following(here, ["hello"], (python,), files=[(SERVE, str(log))], processes=True, kernel=True) as told:
        told.wait_line("hello")
        told.wait(Sampled)
        command = Path(f"/proc/{here.pid}/cmdline").read_bytes().split(b"\0")[0]
        assert command == python.encode()


def test_a_machine_without_python_is_told(here: Through) -> None:
    with following(here, pythons=("no-such-python", "/bin/false")) as told:
        lost = told.wait(Contact)
        assert not lost.reached
        assert lost.why.startswith("no Python 3.8 or later is there")


def test_a_clock_that_is_wrong_is_aligned(tmp_path: Path) -> None:
    """All moments are this machine's, whatever the node's clock says."""
    log = tmp_path / "log"
    log.touch()
    wrong = "import time; real = time.time; time.time = lambda: real() - 7200\nimport base64"
    there = Through(tmp_path / "pid", lambda text: text.replace("import base64", wrong, 1))
    with following(there, files=[(SERVE, str(log))], processes=True) as told:
        assert told.wait(Contact).clock_offset_s == pytest.approx(-7200, abs=0.5)
        told.wait(Opened)
        wrote = time.time()
        append(log, "now\n")
        assert told.wait_line("now").line.at == pytest.approx(wrote, abs=5)
        assert told.wait(Sampled).at == pytest.approx(wrote, abs=10)


@contextlib.contextmanager
def named(*names: str) -> Iterator[dict[str, int]]:
    """Processes that are called so, as ``setproctitle`` calls them."""
    started = {}
    try:
        for name in names:
            started[name] = subprocess.Popen(["bash", "-c", f"exec -a '{name}' sleep 600"])
        eventually(
            lambda: all(Path(f"/proc/{one.pid}/cmdline").read_text().startswith(name) for name, one in started.items()),
            "all have their names",
        )
        yield {name: one.pid for name, one in started.items()}
    finally:
        for one in started.values():
            one.kill()
            one.wait()


def test_processes_are_told_when_they_come_stop_and_go(here: Through) -> None:
    titles = ("/x/ray/raylet", "gcs_server", "VLLM::EngineCore", "ray::RayWorkerProc", "VLLM::APIServer_0")
    with named(*titles) as pids, following(here, processes=True) as told:
        raylet, gcs, engine, worker, server = (pids[title] for title in titles)
        seen = told.wait(Processes)
        for kind, pid in (("raylet", raylet), ("gcs", gcs), ("engine", engine), ("worker", worker), ("server", server)):
            assert pid in seen.alive[kind]
        assert seen.port_owner is None
        os.kill(worker, signal.SIGSTOP)
        told.wait(Processes, lambda event: worker in event.stopped)
        os.kill(worker, signal.SIGCONT)
        os.kill(engine, signal.SIGKILL)  # a zombie until its parent asks: it does not live
        told.wait(Processes, lambda event: engine not in event.alive.get("engine", ()) and worker not in event.stopped)


def test_a_server_is_known_by_its_command_line(tmp_path: Path, here: Through) -> None:
    program = tmp_path / "vllm"
    program.write_text("import time; time.sleep(600)")
    with following(here, processes=True) as told:
        server = subprocess.Popen(["python3", str(program), "serve", "/models/x"])
        other = subprocess.Popen(["sh", "-c", "sleep 600; : vllm serve"])
        try:
            told.wait(Processes, lambda event: server.pid in event.alive.get("server", ()))
            assert all(other.pid not in event.alive.get("server", ()) for event in told.all(Processes))
        finally:
            for one in (server, other):
                one.kill()
                one.wait()


def test_counters_are_those_of_the_engine_and_its_children(tmp_path: Path) -> None:
    """In a namespace of their own: other engines may be at work on this machine."""
    work = shlex.quote("timeout 3 sh -c 'while :; do :; done'; sleep 2")
    engine = shlex.join(["bash", "-c", f"exec -a VLLM::EngineCore bash -c {work}"])
    alone = ["unshare", *([] if os.geteuid() == 0 else AS_ROOT_OF_ITS_OWN), "--pid", "--fork", "--mount-proc"]

    def beside_it(text: str) -> str:
        return f"exec {shlex.join([*alone, '--kill-child', 'sh', '-c', f'{engine} & {text}'])}"

    there = Through(tmp_path / "pid", beside_it)
    with following(there, processes=True, interface="lo", hcas=["no-such-hca"]) as told:
        told.wait(Processes, lambda event: set(event.alive) == {"engine"})
        told.wait(Sampled, lambda event: event.values[Counter.CPU] > 1)
        told.wait(Processes, lambda event: not event.alive and len(told.all(Processes)) > 1)
        samples = told.all(Sampled)
        assert all(set(one.values) == set(Counter) - {Counter.RDMA} for one in samples)
        used = [one.values[Counter.CPU] for one in samples]
        assert used == sorted(used), "a process that has ended takes nothing back"
        assert used[-1] < 10
        total = int(re.findall(r"MemTotal: +(\d+)", Path("/proc/meminfo").read_text())[0]) * 1024
        assert all(0 < one.values[Counter.AVAILABLE] < total for one in samples)


def test_the_owner_of_the_port_is_told(here: Through) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        with following(here, processes=True, port=port) as told:
            told.wait(Processes, lambda event: (event.port_owner or "").endswith(f"({os.getpid()})"))
            server.close()
            told.wait(Processes, lambda event: event.port_owner == "")


@pytest.mark.parametrize("killed", [False, True])
def test_a_follower_ends_with_its_children(tmp_path: Path, killed: bool) -> None:
    docker = tmp_path / "docker"
    docker.write_text("#!/bin/sh\nexec sleep 600\n")
    docker.chmod(0o755)
    there = Through(tmp_path / "pid", lambda text: f"PATH={tmp_path}:$PATH\n{text}")
    with following(there, container=["engine", SERVE]) as told:
        told.wait(Contact)
        eventually(lambda: len(children(there.pid)) == 3, "docker events, inspect and logs run")
        pids = [there.pid, *children(there.pid)]
        there.closed.set()
        if killed:
            there.cut()
    eventually(lambda: not any(map(alive, pids)), "all have ended")


def children(pid: int) -> list[int]:
    return [int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_a_follower_that_has_stopped_is_given_up(
    tmp_path: Path, here: Through, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(follower, "SILENT_S", 2.5)
    log = tmp_path / "log"
    log.touch()
    with following(here, files=[(SERVE, str(log))]) as told:
        told.wait(Contact)
        os.kill(here.pid, signal.SIGSTOP)
        lost = told.wait(Contact, lambda event: not event.reached)
        assert "no sign of life for" in lost.why
        append(log, "after\n")
        told.wait_line("after")
        assert told.texts() == ["after"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root writes to the kernel's log")
def test_the_kernel_is_heard_once(here: Through) -> None:
    mark = f"shakedown selftest {os.getpid()}"
    Path("/dev/kmsg").write_text(f"{mark} before\n")
    with following(here, [mark], kernel=True) as told:
        assert told.wait_line(f"{mark} before").backlog
        wrote = time.time()
        Path("/dev/kmsg").write_text(f"{mark} now\n")
        line = told.wait_line(f"{mark} now")
        assert (line.backlog, line.line.stream) == (False, Stream.KERNEL)
        assert line.line.at == pytest.approx(wrote, abs=5)
        here.cut()
        Path("/dev/kmsg").write_text(f"{mark} later\n")
        told.wait_line(f"{mark} later")
        assert [text[len(mark) + 1 :] for text in told.texts() if mark in text] == ["before", "now", "later"]
        assert told.all(Logged)
        assert all(event.there for event in told.all(Opened))
