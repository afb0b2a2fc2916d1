"""What a node is asked at a standstill, asked of this machine."""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from selftests.launch.story import A, B, pair
from shakedown.inventory.model import Deployment, Node
from shakedown.launch.gather import ON_MACHINE, gather_all, gatherer
from shakedown.launch.sockets import waiting
from shakedown.launch.stall import Gathered


@pytest.fixture
def here() -> Deployment:
    nodes = tuple(node.model_copy(update={"ssh": None, "local": True}) for node in pair().node)
    return pair().model_copy(update={"node": nodes})


@pytest.fixture
def unanswered() -> Iterator[int]:
    """A port of loopback that answers no further connection: its queue is full, and one connection waits."""
    with ExitStack() as sockets:
        listener = sockets.enter_context(socket.socket())
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        for _ in range(3):
            client = sockets.enter_context(socket.socket())
            client.setblocking(False)
            client.connect_ex(listener.getsockname())
        yield listener.getsockname()[1]


@pytest.fixture
def raylet(tmp_path: Path) -> Iterator[None]:
    """A process of that name, with an environment of its own."""
    program = tmp_path / "raylet"
    program.write_text("#!/bin/sh\nread forever\n")
    program.chmod(0o755)
    given = {**os.environ, "VLLM_HOST_IP": "10.9.9.9", "HF_TOKEN": "hf_abcdefghijklmnopqrstuv", "NCCL_IB_HCA": "mlx5"}
    with subprocess.Popen([program, "--node_ip_address=10.9.9.9"], stdin=subprocess.PIPE, env=given) as process:
        yield
        process.kill()


def asked(here: Deployment) -> Gathered:
    return gather_all([here.head], gatherer(here), lambda: 5.0)[0]


@pytest.mark.usefixtures("raylet")
def test_the_node_tells_who_waits_and_what_ray_was_given(here: Deployment, unanswered: int) -> None:
    gathered = asked(here)
    assert (gathered.node, gathered.at) == (A, 5.0)
    sockets = list(waiting(A, gathered.section("waiting sockets") or ()))
    assert unanswered in {one.port for one in sockets if str(one.peer) == "127.0.0.1"}
    given = gathered.section("environment of ray") or []
    assert {"VLLM_HOST_IP=10.9.9.9", "NCCL_IB_HCA=mlx5", "--node_ip_address=10.9.9.9"} <= set(given)
    assert "hf_abc" not in gathered.text
    assert any(line.startswith("MemAvailable:") for line in gathered.section("memory") or ())
    assert gathered.section("processes") is not None


def test_without_ss_the_kernel_s_table_tells_the_same(unanswered: int, tmp_path: Path) -> None:
    for tool in ("cat", "cut", "tr", "sed", "grep"):
        (tmp_path / tool).symlink_to(Path("/bin") / tool)
    done = subprocess.run(
        ["/bin/sh", "-c", ON_MACHINE], env={"PATH": str(tmp_path)}, capture_output=True, text=True, check=False
    )
    sockets = list(waiting(A, Gathered(A, 0, done.stdout).section("waiting sockets") or ()))
    assert unanswered in {one.port for one in sockets}


def test_a_node_that_cannot_be_asked_says_why() -> None:
    def gather(node: Node) -> str:
        if node.name == B:
            raise OSError("ssh: not found")
        return "== memory\nMemTotal: 1 kB\n"

    head, worker = gather_all(pair().node, gather, lambda: 1.0)
    assert head.section("memory") == ["MemTotal: 1 kB"]
    assert worker.section("not reached") == ["ssh: not found"]
    assert worker.section("memory") is None
