"""Nodes made of namespaces, entered as root and as nobody."""

from __future__ import annotations

import os
import subprocess

import pytest

from selftests.nodes.machines import NOBODY, namespaces
from shakedown.nodes.transport import Namespace

STAND = "hostname inner && echo up && exec sleep 600"
LOOK = "uname -n; ls -d /proc/[0-9]* | wc -l; id -u; echo ${SECRET_OF_THE_CALLER-none}; cat"

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")


def looked(argv: list[str]) -> list[str]:
    """What the node shows of itself."""
    environment = {**os.environ, "SECRET_OF_THE_CALLER": "leaked"}
    done = subprocess.run(argv, input="stdin", capture_output=True, text=True, check=True, env=environment)
    return done.stdout.splitlines()


def test_a_node_is_entered_with_its_own_name_processes_and_environment() -> None:
    with namespaces(STAND, user=os.geteuid() != 0) as target:
        name, processes, user, leaked, stdin = looked(Namespace(target).argv(LOOK))
    assert (name, user, leaked, stdin) == ("inner", "0", "none", "stdin")
    assert int(processes) < 10


@needs_root
def test_a_node_made_by_nobody_is_entered_by_nobody() -> None:
    with namespaces(STAND, *NOBODY, user=True) as target:
        argv = Namespace(target).argv(LOOK)
        assert "--preserve-credentials" in argv
        name, _, user, _, _ = looked([*NOBODY, *argv])
    assert (name, user) == ("inner", "0")
