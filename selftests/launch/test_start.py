"""Commands are run where they belong, in order, and one that fails is told with what it said."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import pytest

from selftests.launch.machines import calls, local_pair
from selftests.nodes.machines import eventually
from shakedown.errors import LaunchError
from shakedown.faults import exit_codes
from shakedown.inventory.model import Deployment
from shakedown.launch import start, step
from shakedown.nodes.transport import Local
from shakedown.outcomes import Stage


def test_ray_starts_on_the_head_before_the_workers(tmp_path: Path) -> None:
    told: list[str] = []
    start.run_steps(Stage.RAY, local_pair(tmp_path), told.append)
    head, worker = calls(tmp_path)
    assert head[:4] == ["192.168.200.12", "", "-m", "ray.scripts.scripts"]
    assert "--head" in head
    assert worker[0] == "192.168.200.13"
    assert "--address=192.168.200.12:6379" in worker
    assert told == ["Ray starts on the head", "Ray starts on spark-b"]


def test_a_head_that_fails_is_told_and_no_worker_is_started(tmp_path: Path) -> None:
    with pytest.raises(LaunchError) as failed:
        start.run_steps(Stage.RAY, local_pair(tmp_path, status=3), lambda _line: None)
    assert str(failed.value).splitlines() == [
        "Ray starts on the head: exit status 3 on spark-a",
        "  started with 9 words",
        "  API_KEY=[redacted]",
    ]
    assert len(calls(tmp_path)) == 1


def test_the_server_is_left_behind_with_its_output_in_the_log(tmp_path: Path) -> None:
    log = tmp_path / "serve.log"
    deployment = local_pair(tmp_path, more=f'log = "{log}"\napi_key_env = "THE_KEY"\n')
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("THE_KEY", "hunter2")
        start.run_steps(Stage.SERVING, deployment, lambda _line: None)
    deadline = time.monotonic() + 10
    while not (log.exists() and "API_KEY" in log.read_text()) and time.monotonic() < deadline:
        time.sleep(0.02)
    (words,) = calls(tmp_path)
    assert words[:4] == ["192.168.200.12", "hunter2", "-m", "vllm.entrypoints.openai.api_server"]
    assert "started with" in log.read_text()


def test_a_log_that_cannot_be_written_is_told_and_no_server_started(tmp_path: Path) -> None:
    deployment = local_pair(tmp_path, more=f'log = "{tmp_path}/none/serve.log"\n')
    with pytest.raises(LaunchError, match=rf"exit status 2 on spark-a\n .*{tmp_path}/none/serve.log"):
        start.run_steps(Stage.SERVING, deployment, lambda _line: None)
    assert calls(tmp_path) == []


@pytest.mark.parametrize("shell", ["sh", "bash"])
def test_a_program_that_reads_stdin_takes_nothing_of_the_command(tmp_path: Path, shell: str) -> None:
    deployment = local_pair(tmp_path, more='[launch]\nray_head = """\ncat\necho after\n"""\n')
    ((command,), _) = start.steps_to(Stage.RAY, deployment)
    said = subprocess.run([shell, "-s"], input=command.script, capture_output=True, text=True, check=True)
    assert said.stdout == "after\n"


@pytest.fixture
def by_sudo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A `sudo` that notes each use, and a `docker` that answers to root alone; gives the file of the notes."""
    used = tmp_path / "sudo"
    programs = {
        "sudo": f'echo used >> {used}\nAS_ROOT=1; export AS_ROOT; shift 2; exec "$@"',
        "docker": '[ "$AS_ROOT" ] || { echo "permission denied" >&2; exit 1; }\n'
        'while [ "$1" != engine ]; do shift; done; shift; exec "$@"',
    }
    for name, text in programs.items():
        file = tmp_path / "bin" / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"#!/bin/sh\n{text}\n")
        file.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=":")
    return used


@pytest.mark.parametrize("stage", [Stage.RAY, Stage.SERVING])
def test_docker_is_asked_by_sudo_where_a_node_needs_it(tmp_path: Path, by_sudo: Path, stage: Stage) -> None:
    start.run_steps(stage, _with_sudo(tmp_path, '[container]\nname = "engine"\n'), lambda _line: None)
    assert by_sudo.exists()


def test_without_a_container_nothing_is_started_as_root(tmp_path: Path, by_sudo: Path) -> None:
    start.run_steps(Stage.RAY, _with_sudo(tmp_path, ""), lambda _line: None)
    assert len(calls(tmp_path)) == 2
    assert not by_sudo.exists()


def _with_sudo(folder: Path, more: str) -> Deployment:
    deployment = local_pair(folder, more=f'log = "{folder}/serve.log"\n{more}')
    nodes = tuple(node.model_copy(update={"sudo": True}) for node in deployment.node)
    return deployment.model_copy(update={"node": nodes})


def test_a_command_without_an_end_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(step, "LIMIT_S", 0.5)
    deployment = local_pair(tmp_path, more='[launch]\nray_head = "echo here; exec sleep 60"\n')
    with pytest.raises(LaunchError, match=r"no end after 0 s on spark-a\n  here"):
        start.run_steps(Stage.RAY, deployment, lambda _line: None)


class Far(Local):
    """This machine as over ssh: what is started there does not end with its connection."""

    def argv(self, script: str) -> list[str]:
        return ["sh", "-c", 'exec 3<&0; setsid sh -c "$0" <&3 & wait', script]


def test_what_is_given_up_is_ended_where_it_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(step, "LIMIT_S", 1.0)
    monkeypatch.setattr(step, "machine_transport", lambda _node: Far())
    number = tmp_path / "number"
    own = f'[launch]\nray_head = "echo here; echo $$ > {number}; sleep 600; echo there"\n'
    with pytest.raises(LaunchError, match=r"no end after 1 s on spark-a\n  here$"):
        start.run_steps(Stage.RAY, local_pair(tmp_path, more=own), lambda _line: None)
    group = int(number.read_text())
    eventually(lambda: not Path(f"/proc/{group}").exists() and not _has_members(group), "the end of the command")


def _has_members(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def test_commands_are_shown_with_where_they_run_and_without_secrets(tmp_path: Path) -> None:
    deployment = local_pair(tmp_path, more='log = "/var/log/x"\napi_key_env = "THE_KEY"\n')
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("THE_KEY", "hunter2")
        ((command,),) = start.steps_to(Stage.SERVING, deployment)
    text = start.shown(command)
    assert text.startswith(
        "# the API server starts on the head (spark-a, on the machine; made from the deployment file)\n"
    )
    assert "export VLLM_API_KEY=...\n" in text
    assert "hunter2" not in text


HINDERED = """[launch]
ray_head = "true"
ray_worker = '''
echo "[2026-12-01 12:18:24,433 W 6 6] a.h:1: Failed to connect to GCS at address 192.168.200.12:6379 within 5 seconds."
exec sleep 60'''
"""


def test_what_is_in_the_way_is_told_at_once_and_soon_no_more_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(step, "PATIENCE_S", 0.3)
    told: list[str] = []
    with pytest.raises(start.StartError) as failed:
        start.run_steps(Stage.RAY, local_pair(tmp_path, more=HINDERED), told.append)
    explanation = failed.value.explanation
    assert explanation is not None
    assert (explanation.fault, explanation.node) == ("RAY-08", "spark-b")
    assert told[-1].startswith("RAY-08 on spark-b: a node cannot connect to the head's GCS; ")
    assert "ended, since it gets nowhere" in str(failed.value)
    assert "nc -zv 192.168.200.12 6379" in str(failed.value)
    assert failed.value.exit_code == exit_codes.OF_FAMILY["RAY"]


def test_what_gets_on_all_the_same_is_left_alone(tmp_path: Path) -> None:
    start.run_steps(
        Stage.RAY, local_pair(tmp_path, more=HINDERED.replace("exec sleep 60", "exec true")), lambda _line: None
    )
