"""A hub kills all that it can see, so it runs nowhere but in a PID namespace of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from shakedown.embedded import hub, machine

_BY_HAND = """
sleep 60 & bystander=$!
"$0" -m shakedown.embedded.hub "$1" --listener 0 --owner 0 --control 0 --ready 1
echo "exit $?"
kill -0 $bystander && echo "bystander lives"
test -d "$1" && echo "folder stands"
"""


def test_hub_is_refused_outside_of_a_pid_namespace_of_its_own() -> None:
    assert hub.why_not_here(0) == f"process {os.getpid()} is not the first of a PID namespace of its own"


def test_first_process_is_refused_beside_its_owner(monkeypatch: pytest.MonkeyPatch) -> None:
    """As it is in a container, where it is the first process and yet not alone."""
    owner = os.pidfd_open(os.getpid())
    number = os.getpid()
    monkeypatch.setattr(os, "getpid", lambda: 1)
    try:
        assert hub.why_not_here(owner) == f"its owner, process {number}, is in the same PID namespace"
    finally:
        os.close(owner)


def test_first_process_is_refused_without_an_owner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getpid", lambda: 1)
    with (tmp_path / "file").open("w") as file:
        number = file.fileno()
        assert hub.why_not_here(number) == f"descriptor {number} is not of a process"
    assert hub.why_not_here(number) == f"descriptor {number} is not open"


@pytest.mark.embedded
def test_hub_started_by_hand_kills_nothing(tmp_path: Path) -> None:
    """In a PID namespace around it all, so that a hub which forgot to refuse would kill this test's processes only."""
    done = subprocess.run(
        ["unshare", *machine.outer_namespaces(), "sh", "-c", _BY_HAND, sys.executable, str(tmp_path)],
        cwd=machine.ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.stdout == "exit 2\nbystander lives\nfolder stands\n"
    assert "is not the first of a PID namespace of its own; use `python -m shakedown up`" in done.stderr
