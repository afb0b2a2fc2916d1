"""The process: quick to start, sure to end, clear when it cannot start."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

from shakedown.errors import LaunchError
from shakedown.simulator.faults.registry import FAULTS
from shakedown.simulator.run import running_simulator

ROOT = Path(__file__).parents[2]
HOLDER = """
import time
from shakedown.simulator.run import running_simulator
with running_simulator() as simulator:
    print(simulator.pid, flush=True)
    time.sleep(60)
"""


def is_alive(pid: int) -> bool:
    """A zombie is not."""
    try:
        return " Z " not in Path(f"/proc/{pid}/stat").read_text()
    except FileNotFoundError:
        return False


def cpu_s(pid: int) -> float:
    """Processor time that the process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def wait_for_end(pid: int) -> float:
    """Seconds until the process is gone; fails after five."""
    start = time.monotonic()
    while is_alive(pid):
        assert time.monotonic() - start < 5, f"process {pid} is still there"
        time.sleep(0.01)
    return time.monotonic() - start


def test_it_answers_as_soon_as_it_is_announced_and_ends_with_its_block() -> None:
    with running_simulator() as simulator:
        work = cpu_s(simulator.pid)
        assert httpx.get(simulator.base_url + "/health").status_code == 200
        assert is_alive(simulator.pid)
    wait_for_end(simulator.pid)
    assert work < 1  # of processor time: what the wall clock shows depends on who else is at work
    with pytest.raises(httpx.ConnectError):
        httpx.get(simulator.base_url + "/health")


def test_two_at_once_do_not_meet() -> None:
    with running_simulator(served_name="one") as one, running_simulator(served_name="two") as two:
        names = [httpx.get(s.base_url + "/v1/models").json()["data"][0]["id"] for s in (one, two)]
    assert names == ["one", "two"]


def test_an_error_in_the_block_ends_it_too() -> None:
    with pytest.raises(RuntimeError, match="mine"), running_simulator() as simulator:
        raise RuntimeError("mine")
    wait_for_end(simulator.pid)


def test_it_ends_when_its_owner_is_killed() -> None:
    owner = subprocess.Popen([sys.executable, "-c", HOLDER], stdout=subprocess.PIPE, text=True, cwd=ROOT)
    assert owner.stdout is not None
    pid = int(owner.stdout.readline())
    assert is_alive(pid)
    owner.send_signal(signal.SIGKILL)
    owner.wait()
    owner.stdout.close()
    wait_for_end(pid)


def test_it_ends_within_a_stream() -> None:
    with running_simulator(ttft_s=0.0, itl_s=10.0) as simulator:
        body = {"messages": [{"role": "user", "content": "Hello"}], "stream": True}
        with httpx.stream("POST", simulator.base_url + "/v1/chat/completions", json=body) as response:
            next(response.iter_bytes())
            os.kill(simulator.pid, signal.SIGTERM)
            wait_for_end(simulator.pid)


def test_a_model_that_is_not_there_is_said() -> None:
    with (
        pytest.raises(LaunchError, match=r"/nowhere has no tokenizer\.json"),
        running_simulator(model=Path("/nowhere")),
    ):
        pass


def test_a_port_that_is_taken_is_said() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        ended = subprocess.run(
            [sys.executable, "-m", "shakedown.simulator", "--port", port], capture_output=True, text=True, cwd=ROOT
        )
    assert ended.returncode == 1
    assert ended.stderr == f"cannot listen on 127.0.0.1 port {port}: Address already in use\n"


def test_an_unknown_fault_is_said() -> None:
    with pytest.raises(LaunchError, match="invalid choice: 'no-such-fault'"), running_simulator(fault="no-such-fault"):
        pass


def test_the_list_of_faults_names_all_of_them() -> None:
    command = [sys.executable, "-m", "shakedown.simulator", "--list-faults"]
    listed = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT).stdout
    assert [line.split()[0] for line in listed.splitlines()] == list(FAULTS)
    assert all(len(line.split()) > 3 for line in listed.splitlines())


def test_the_command_says_where_it_is_in_one_line() -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "shakedown.simulator", "--owned"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )
    assert process.stdout is not None
    said = json.loads(process.stdout.readline())
    rest, _ = process.communicate()
    assert process.returncode == 0
    assert rest == ""
    assert said["base_url"].endswith(f":{said['port']}")
    assert said["pid"] == process.pid
