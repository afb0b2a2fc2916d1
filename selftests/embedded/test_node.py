"""Whom a node's maker ends on it."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Sequence

import pytest

from shakedown.embedded.network import NodePlan
from shakedown.embedded.node import RunningNode
from shakedown.embedded.processes import Process, find, myself


@pytest.fixture
def leader() -> Iterator[Process]:
    """A daemon, on a node that is this very machine."""
    with subprocess.Popen(["sleep", "60"], start_new_session=True) as process:
        found = find(process.pid)
        assert found
        yield found
        process.kill()


@pytest.fixture
def ended(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The kills that are asked for; none of them happens."""
    asked: list[str] = []
    monkeypatch.setattr(RunningNode, "enter", lambda _, argv, __: list(argv))

    def run(argv: Sequence[str], **_: object) -> None:
        asked.append(argv[-1])

    monkeypatch.setattr(subprocess, "run", run)
    return asked


def here() -> RunningNode:
    plan = NodePlan("node-a", "head", fabric="192.168.200.12", management="10.1.230.12", model="/model")
    return RunningNode(plan, myself())


def test_group_of_a_daemon_is_ended(leader: Process, ended: list[str]) -> None:
    here().kill_group(leader)
    assert ended == [f"kill -9 -{leader.pid}"]


def test_group_with_the_number_of_an_earlier_daemon_is_not_ended(leader: Process, ended: list[str]) -> None:
    here().kill_group(Process(leader.pid, leader.started - 1))
    assert ended == []


def test_what_a_dead_daemon_started_is_ended(ended: list[str]) -> None:
    with subprocess.Popen(["sleep", "60"]) as process:
        leader = find(process.pid)
        process.kill()
    assert leader
    here().kill_group(leader)
    assert ended == [f"kill -9 -{leader.pid}"]
