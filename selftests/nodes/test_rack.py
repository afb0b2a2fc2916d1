"""Machines as operators have them: behind a jump host, with users whom sudo trusts or not, and pulled out half-way."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from selftests.nodes.rack import GUEST, TRUSTED, TRUSTED_ID, Machine, rack
from shakedown.errors import NodeUnreachableError
from shakedown.nodes.answer import Command, python_script
from shakedown.nodes.evidence import Evidence
from shakedown.nodes.fetch import Reach
from shakedown.nodes.transport import OpenSSH
from shakedown.outcomes import Stage

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="machines with users of their own are made by root only")

NAME = Command("uname -n")
USER = Command("id -un")
HERE = Command("echo here", limit_s=1)
SLEEP = Command("sleep 30", limit_s=40)


@pytest.fixture(scope="module")
def machines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Machine, Machine]]:
    """Two machines; the second is reached through the first only."""
    with rack(tmp_path_factory.mktemp("rack")) as made:
        yield made


def evidence_of(machine: Machine, config: Path | None = None, *, user: str = "root", sudo: bool = False) -> Evidence:
    """Nothing asked yet of a machine, reached as that user."""
    way = OpenSSH(f"{user}@{machine.name}", config=str(config or machine.config), sudo=sudo)
    return Evidence("rack", Stage.HOSTS, {machine.name: Reach(machine.name, way)})


def refusal(evidence: Evidence) -> str:
    """Why the node does not answer, and that this is said without a wait."""
    began = time.monotonic()
    with pytest.raises(NodeUnreachableError) as caught:
        evidence.ask(evidence.nodes[0], USER)
    assert time.monotonic() - began < 10
    return str(caught.value)


def altered(machine: Machine, folder: Path, old: str, new: str) -> Path:
    """The ssh_config with one text replaced, which also makes it a way of its own."""
    text = machine.config.read_text()
    assert old in text
    (folder / "ssh_config").write_text(text.replace(old, new))
    return folder / "ssh_config"


def test_a_machine_behind_a_jump_host_is_reached_by_its_alias(machines: tuple[Machine, Machine]) -> None:
    jump, behind = machines
    before = jump.log.read_text().count("Accepted publickey")
    assert evidence_of(behind).ask(behind.name, NAME).text == "node-b\n"
    assert jump.log.read_text().count("Accepted publickey") == before + 1


def test_both_machines_are_asked_in_one_fetch(machines: tuple[Machine, Machine]) -> None:
    ways = {one.name: Reach(one.name, OpenSSH(one.name, config=str(one.config))) for one in machines}
    evidence = Evidence("rack", Stage.HOSTS, ways)
    evidence.fetch({name: [NAME, USER] for name in ways})
    assert [evidence.ask(name, NAME).text for name in ways] == ["node-a\n", "node-b\n"]


def test_a_user_whom_sudo_trusts_becomes_root(machines: tuple[Machine, Machine]) -> None:
    first, _ = machines
    assert evidence_of(first, user=TRUSTED).ask(first.name, USER).text == f"{TRUSTED}\n"
    assert evidence_of(first, user=TRUSTED, sudo=True).ask(first.name, USER).text == "root\n"


def test_root_by_sudo_looks_at_the_model_as_the_user_whom_it_serves(
    machines: tuple[Machine, Machine], tmp_path: Path
) -> None:
    first, _ = machines
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "config.json").chmod(0o600)
    for folder in (tmp_path, *tmp_path.parents[:-2]):
        folder.chmod(0o755)
    look = python_script("model_files", "python3", str(tmp_path), as_engine_user=True)
    root, served = (
        json.loads(evidence_of(first, user=user, sudo=sudo).ask(first.name, look).text)
        for user, sudo in (("root", False), (TRUSTED, True))
    )
    assert (root["user"], root["unreadable"]) == (0, {})
    assert (served["user"], list(served["unreadable"])) == (TRUSTED_ID, ["config.json"])


def test_a_user_whom_sudo_asks_for_a_password_is_told_so(machines: tuple[Machine, Machine]) -> None:
    text = refusal(evidence_of(machines[0], user=GUEST, sudo=True))
    assert "node-a over ssh guest@node-a does not answer: " in text
    assert "sudo: a password is required" in text
    assert "NOPASSWD" in text


def test_a_machine_that_asks_for_a_password_is_refused_at_once(
    machines: tuple[Machine, Machine], tmp_path: Path
) -> None:
    config = altered(machines[0], tmp_path, "user_key", "host_key")
    text = refusal(evidence_of(machines[0], config))
    assert "Permission denied (publickey,password" in text
    assert "ssh-copy-id" in text


def test_a_user_who_is_not_there_is_refused(machines: tuple[Machine, Machine]) -> None:
    text = refusal(evidence_of(machines[0], user="nobody-of-that-name"))
    assert "nobody-of-that-name@" in text
    assert "Permission denied" in text


def test_an_unknown_machine_is_not_trusted(machines: tuple[Machine, Machine], tmp_path: Path) -> None:
    text = refusal(evidence_of(machines[0], altered(machines[0], tmp_path, "known_hosts", "none")))
    assert "Host key verification failed" in text
    assert "connect once by hand" in text


def test_a_machine_with_another_key_is_not_trusted(machines: tuple[Machine, Machine], tmp_path: Path) -> None:
    first, _ = machines
    foreign = (first.config.parent / "user_key.pub").read_text()
    (tmp_path / "known").write_text(f"{first.name} {foreign}")
    config = altered(first, tmp_path, str(first.config.parent / "known_hosts"), str(tmp_path / "known"))
    text = refusal(evidence_of(first, config))
    assert "ssh-keygen -R HOST" in text


def test_a_jump_host_that_refuses_is_no_riddle(machines: tuple[Machine, Machine], tmp_path: Path) -> None:
    """With a kept connection, ssh throws away what the jump host said; so the message says where to look."""
    config = altered(machines[0], tmp_path, "ProxyJump node-a", "ProxyJump nobody-of-that-name@node-a")
    assert "try `ssh` to the jump host alone" in refusal(evidence_of(machines[1], config))


def test_what_a_machine_said_before_it_died_is_kept(tmp_path: Path) -> None:
    """Its processes are killed, as by a power cut that lets the kernel say goodbye."""
    with rack(tmp_path) as (first, _):
        text = interrupted(first, lambda: os.kill(first.target.pid, signal.SIGKILL))
    assert "vanished after 1 of 2 answers" in text


def test_a_cable_that_is_pulled_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No connection is closed, nobody says anything: only the missing signs of life tell."""
    monkeypatch.setattr("shakedown.nodes.transport.ALIVE_EVERY_S", 1)
    with rack(tmp_path) as (_, second):
        enter = ["nsenter", "-t", str(second.target.pid), "--net"]
        text = interrupted(second, lambda: subprocess.run([*enter, "ip", "link", "set", "mgt0", "down"], check=True))
    assert "vanished after 1 of 2 answers" in text


def interrupted(machine: Machine, blow: Callable[[], object]) -> str:
    """What is said when something befalls a machine while it works; well before its command's limit."""
    evidence = evidence_of(machine)
    strike = threading.Timer(3, blow)
    began = time.monotonic()
    strike.start()
    with pytest.raises(NodeUnreachableError) as caught:
        evidence.fetch({machine.name: [HERE, SLEEP]})
    assert time.monotonic() - began < SLEEP.limit_s / 2
    assert [answer.text for answer in evidence.answers(machine.name)] == ["here\n"]
    return str(caught.value)
