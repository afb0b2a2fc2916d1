"""Every transport as an argument list: nothing is parsed by a shell on the way, nothing foreign is entered."""

from __future__ import annotations

import os
import shlex
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shakedown.errors import NodeUnreachableError
from shakedown.inventory.model import NamespaceTarget
from shakedown.nodes.control import LONGEST, control_path
from shakedown.nodes.transport import DockerExec, Local, Namespace, OpenSSH, start_time

HOSTILE = "x; touch /tmp/owned #$(id)`id`'\"\n"


def test_local_runs_the_script_as_it_is() -> None:
    assert Local().argv(HOSTILE) == ["sh", "-c", HOSTILE]
    assert Local(sudo=True).argv("id") == ["sudo", "-n", "--", "sh", "-c", "id"]


def test_ssh_never_asks_and_keeps_its_connection() -> None:
    argv = OpenSSH("aurora@10.1.230.180", config="/etc/x").argv("id")
    assert argv[:3] == ["ssh", "-F", "/etc/x"]
    assert {"BatchMode=yes", "ControlMaster=auto", "ConnectTimeout=10", "ControlPersist=60"} <= set(argv)
    assert f"ControlPath={control_path('aurora@10.1.230.180', '/etc/x')}" in argv
    assert argv[-3:] == ["--", "aurora@10.1.230.180", "exec sh -c id"]


def test_the_home_folder_of_a_config_is_expanded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/aurora")
    argv = OpenSSH("aurora@spark-a", config="~/.ssh/sparks").argv("true")
    assert argv[:3] == ["ssh", "-F", "/home/aurora/.ssh/sparks"]


def test_a_destination_cannot_be_an_option() -> None:
    with pytest.raises(NodeUnreachableError, match="is an option of ssh"):
        OpenSSH("-oProxyCommand=id")


def test_a_hostile_destination_stays_one_argument() -> None:
    argv = OpenSSH(HOSTILE).argv("id")
    assert argv[-2] == HOSTILE


@given(st.text(alphabet=st.characters(exclude_characters="\0", codec="utf-8")))
def test_any_script_reaches_the_far_shell_as_it_is(script: str) -> None:
    """What ssh hands to the login shell is one line that yields the script again."""
    remote = OpenSSH("host").argv(script)[-1]
    assert shlex.split(remote) == ["exec", "sh", "-c", script]
    assert shlex.split(OpenSSH("host", sudo=True).argv(script)[-1])[-1] == script


def test_a_container_is_reached_on_top_of_any_transport() -> None:
    argv = DockerExec(OpenSSH("host", sudo=True), "a b").argv("echo 'x y'")
    outer = shlex.split(argv[-1])
    assert outer[:5] == ["exec", "sudo", "-n", "--", "sh"]
    assert shlex.split(outer[-1]) == ["docker", "exec", "-i", "a b", "sh", "-c", "echo 'x y'"]


def test_a_namespace_that_ended_is_not_entered() -> None:
    child = subprocess.Popen(["true"])
    child.wait()
    with pytest.raises(NodeUnreachableError, match="has ended; bring the deployment up again"):
        Namespace(NamespaceTarget(pid=child.pid, started=1)).argv("id")


def test_a_recycled_pid_is_not_entered() -> None:
    own = start_time(os.getpid())
    assert own is not None
    with pytest.raises(NodeUnreachableError, match=f"the deployment file means one that started at {own + 1}"):
        Namespace(NamespaceTarget(pid=os.getpid(), started=own + 1)).argv("id")
    assert "nsenter" in Namespace(NamespaceTarget(pid=os.getpid(), started=own)).argv("id")[0]


def test_a_name_with_parentheses_does_not_shift_the_start_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "7").mkdir()
    (tmp_path / "7" / "stat").write_text("7 (a) b (c) S " + " ".join(str(number) for number in range(4, 53)))
    monkeypatch.setattr("shakedown.nodes.transport.PROC", tmp_path)
    assert start_time(7) == 22


def test_every_way_has_a_connection_of_its_own() -> None:
    """The same name in two configurations may be two machines."""
    assert len({control_path(name, config) for name in ("a", "b") for config in (None, "/x", "/y")}) == 6


def test_the_control_folder_is_private_and_short() -> None:
    folder = Path(control_path("host", None)).parent
    assert folder.stat().st_mode & 0o777 == 0o700
    assert len(str(folder)) <= LONGEST
