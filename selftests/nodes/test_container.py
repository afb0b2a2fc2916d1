"""A declared container: one that does not run is told from an unreachable node, and nothing is left running in it."""

from __future__ import annotations

import shutil
import time
from dataclasses import replace
from pathlib import Path

import pytest

from selftests.inventory.files import changed
from selftests.proofs.faults import fault
from selftests.proofs.observe import observe
from shakedown.errors import ContainerDownError, EvidenceError, NodeUnreachableError
from shakedown.inventory.load import load_deployment
from shakedown.inventory.model import Deployment
from shakedown.launch.stage import find_stage
from shakedown.nodes.answer import TIMED_OUT, Command, Place
from shakedown.nodes.container import down, out_of_reach
from shakedown.nodes.evidence import Evidence
from shakedown.nodes.views.node import NodeViews
from shakedown.outcomes import Stage

NOT_RUNNING = "Error response from daemon: container 4c01db0b339c is not running"
CLOSED = "http://127.0.0.1:1"
"""Nothing listens on port 1: the API is not there."""


@pytest.fixture
def deployment(tmp_path: Path) -> Deployment:
    """Two nodes that are this machine (see `fake_docker`), each with a container ``engine``."""
    text = changed(("http://10.1.230.180:30000", CLOSED))
    file = tmp_path / "pair.toml"
    file.write_text(text + '[container]\nname = "engine"\n')
    return load_deployment(file)


SSH = 'for last; do :; done; exec sh -c "$last"'


def fake_docker(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """A program ``docker`` whose first arguments are ``exec -i engine``, and an ``ssh`` that stays on this machine."""
    programs = folder / "bin"
    programs.mkdir()
    for name, text in (("docker", script), ("ssh", SSH)):
        (programs / name).write_text(f"#!/bin/sh\n{text}\n")
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(programs), prepend=":")


def test_a_container_that_does_not_run_is_no_unreachable_node(
    deployment: Deployment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_docker(tmp_path, monkeypatch, f"echo '{NOT_RUNNING}' >&2; exit 1")
    assert find_stage(deployment) is Stage.HOSTS
    views = NodeViews(deployment, deployment.head, Evidence.of(deployment, Stage.HOSTS))
    with pytest.raises(EvidenceError, match=r"container engine does not run on spark-a .*: `docker start engine`"):
        _ = views.platform.versions


def test_a_docker_that_may_not_be_asked_is_told(
    deployment: Deployment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The machine answers all the same, so that its own checks are judged."""
    said = "permission denied while trying to connect to the docker API at unix:///var/run/docker.sock"
    fake_docker(tmp_path, monkeypatch, f"echo '{said}' >&2; exit 1")
    assert find_stage(deployment) in (Stage.HOSTS, Stage.RAY)  # by whether a raylet runs on this machine
    views = NodeViews(deployment, deployment.head, Evidence.of(deployment, Stage.HOSTS))
    for ask in (lambda: views.platform.versions, lambda: views.container.made):
        with pytest.raises(ContainerDownError, match=r"docker cannot be asked .*permission denied.*group docker"):
            ask()
    assert views.memory.total > 0


def test_a_container_that_answers_nonsense_is_an_unreachable_node(
    deployment: Deployment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_docker(tmp_path, monkeypatch, "echo 'exec format error' >&2; exit 126")
    with pytest.raises(NodeUnreachableError, match=r"container engine over ssh .* ended with 126: exec format error"):
        find_stage(deployment)


def test_a_raylet_is_found_without_procps(
    deployment: Deployment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The container's own search path holds no pgrep; its raylet is a process of that name."""
    sleeper = tmp_path / "raylet"
    shutil.copy(shutil.which("sleep") or "sleep", sleeper)
    bare = tmp_path / "bare"
    bare.mkdir()
    (bare / "sh").symlink_to(shutil.which("sh") or "sh")
    fake_docker(
        tmp_path, monkeypatch, f'{sleeper} 20 >/dev/null 2>&1 & shift 3\nPATH={bare} "$@"; code=$?; kill $!; exit $code'
    )
    assert find_stage(deployment) is Stage.RAY


def test_a_raylet_of_another_user_asks_for_no_sudo(
    deployment: Deployment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``sudo`` is of the machine; in a container it changes nothing."""
    fake_docker(tmp_path, monkeypatch, "printf 'pid 7\\ndenied environ\\n'")
    views = NodeViews(deployment, deployment.head, Evidence.of(deployment, Stage.RAY))
    with pytest.raises(EvidenceError, match="another user than the one that `docker exec engine` gives"):
        _ = views.ray.environment


def test_a_name_that_cannot_be_looked_up_is_not_one_without_addresses(
    deployment: Deployment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_docker(tmp_path, monkeypatch, "echo 'sh: 1: getent: not found' >&2; exit 127")
    views = NodeViews(deployment, deployment.head, Evidence.of(deployment, Stage.RAY))
    with pytest.raises(EvidenceError, match="getent: not found"):
        _ = views.environment.own_addresses


def test_what_ran_too_long_is_ended_in_the_container(
    deployment: Deployment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in docker, what the client started does not end with the client."""
    mark = tmp_path / "survived"
    fake_docker(tmp_path, monkeypatch, 'shift 3; setsid "$@" & wait $!')
    command = Command(f"sleep 3; touch {mark}", Place.ENGINE, limit_s=1)
    answer = Evidence.of(deployment, Stage.HOSTS).ask("spark-a", command)
    assert answer.exit_code == TIMED_OUT
    time.sleep(2.5)  # the command would have made the mark by then; nothing can be waited for that must not come
    assert not mark.exists()


def test_without_the_check_that_it_runs_each_says_what_it_could_not_read(tmp_path: Path) -> None:
    alone = replace(fault("bundle-container-stopped"), options=("-k", "test_shared_memory_is_large_enough"))
    seen = observe(alone, tmp_path)
    assert seen.failed == {"MEM-12"}
    assert "container vllm does not run on node-b" in seen.text
    assert "`docker start vllm` there" in seen.text


@pytest.mark.parametrize(
    ("complaint", "remedy"),
    [
        (NOT_RUNNING, "`docker start engine` there"),
        ("sudo: docker: command not found", "there is no docker"),
        ('OCI runtime exec failed: exec failed: exec: "timeout": executable file not found in $PATH', "`timeout`"),
    ],
)
def test_what_keeps_every_command_out_is_told_with_its_remedy(complaint: str, remedy: str) -> None:
    trouble = out_of_reach(complaint, "engine", "a")
    assert trouble
    assert trouble.node == "a"
    assert remedy in trouble.remedy


def test_what_a_command_says_itself_is_no_trouble_of_the_container() -> None:
    assert out_of_reach("sh: 1: python3: not found", "engine", "a") is None


@pytest.mark.parametrize(
    ("complaint", "is_down"),
    [
        (NOT_RUNNING, True),
        ("Error response from daemon: No such container: engine", True),
        ("Error response from daemon: Container 4c01 is restarting, wait until the container is running", True),
        ("Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?", True),
        ("permission denied while trying to connect to the docker API at unix:///var/run/docker.sock", False),
        ("sh: 1: python3: not found", False),
        ("", False),
    ],
)
def test_what_docker_says_is_known(complaint: str, *, is_down: bool) -> None:
    assert (down(complaint, "engine", "a") is not None) is is_down
