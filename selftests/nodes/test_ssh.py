"""OpenSSH for real: a server in a network namespace, reached by an ssh_config that names a proxy like a jump host."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from selftests.nodes.machines import ssh_machine
from shakedown.errors import NodeUnreachableError
from shakedown.nodes.answer import Command
from shakedown.nodes.evidence import Evidence
from shakedown.nodes.fetch import Reach
from shakedown.nodes.transport import OpenSSH
from shakedown.outcomes import Stage

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="a server in a namespace of its own is started by root only")


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The ssh_config of a machine."""
    with ssh_machine(tmp_path_factory.mktemp("ssh")) as file:
        yield file


@pytest.fixture
def reach(config: Path) -> Reach:
    """The way to the machine."""
    return Reach("machine", OpenSSH("machine", config=str(config)))


def logins(config: Path) -> int:
    """Connections that the server has accepted so far."""
    return len(re.findall("Accepted publickey", (config.parent / "log").read_text()))


def test_a_whole_fetch_is_one_connection(reach: Reach, config: Path) -> None:
    evidence = Evidence("ssh", Stage.HOSTS, {"machine": reach})
    before = logins(config)
    commands = [Command("uname -n"), *(Command(f"echo {number}") for number in range(60))]
    evidence.fetch({"machine": commands})
    assert evidence.ask("machine", commands[0]).text == "machine\n"
    assert [evidence.ask("machine", one).text for one in commands[1:]] == [f"{number}\n" for number in range(60)]
    assert evidence.ask("machine", Command("echo live")).text == "live\n"
    assert logins(config) <= before + 1, "the second question uses the connection of the first"


def test_any_script_arrives_as_it_is(reach: Reach) -> None:
    script = "printf '%s' \"it's \\$HOME; $((1+1)) `echo x`\"; cat; exit 3"
    done = subprocess.run(reach.machine.argv(script), input=b" and stdin", capture_output=True, check=False)
    assert done.stdout == b"it's $HOME; 2 x and stdin"
    assert done.returncode == 3


def test_binary_and_huge_answers_arrive(reach: Reach) -> None:
    evidence = Evidence("ssh", Stage.HOSTS, {"machine": reach})
    answer = evidence.ask("machine", Command(r"head -c 3000000 /dev/zero; printf '\377'"))
    assert answer.stdout == bytes(3_000_000) + b"\xff"


def test_a_command_past_its_limit_is_ended(reach: Reach) -> None:
    answer = Evidence("ssh", Stage.HOSTS, {"machine": reach}).ask("machine", Command("sleep 20", limit_s=1))
    assert answer.exit_code == 124


def test_no_question_is_ever_asked(config: Path, tmp_path: Path) -> None:
    """A server that wants a password, or is not known, is an error and no prompt."""
    other = tmp_path / "ssh_config"
    other.write_text(config.read_text().replace("user_key", "host_key"))
    with pytest.raises(NodeUnreachableError, match=r"ssh machine does not answer: .*Permission denied"):
        Evidence("ssh", Stage.HOSTS, {"m": Reach("m", OpenSSH("machine", config=str(other)))}).ask("m", Command("id"))


def test_an_unreachable_machine_is_named(tmp_path: Path) -> None:
    closed = tmp_path / "ssh_config"
    closed.write_text("Host gone\n  ProxyCommand false\n")
    with pytest.raises(NodeUnreachableError, match=r"(?s)b over ssh gone does not answer: .*jump host or proxy"):
        Evidence("ssh", Stage.HOSTS, {"b": Reach("b", OpenSSH("gone", config=str(closed)))}).ask("b", Command("id"))


def test_the_clock_is_known_well_although_the_handshake_is_slow(reach: Reach) -> None:
    answer = Evidence("ssh", Stage.HOSTS, {"machine": reach}).ask("machine", Command("date +%s.%N"))
    assert answer.asked <= float(answer.text) <= answer.answered
