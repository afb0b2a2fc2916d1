"""The costume of the GB10 nodes: every piece says where it is from, and the recorded bundles ask for no other."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from pydantic import ValidationError

from selftests.proofs.gb10 import captures
from selftests.proofs.gb10.captures import Capture
from selftests.proofs.gb10.costume import FILE, FIRST, TWIN, bundle_of
from selftests.proofs.gb10.record import STAGES, unanswered
from selftests.proofs.observe import run_suite
from shakedown.inventory.load import load_deployment
from shakedown.nodes.evidence import Evidence
from shakedown.nodes.views.node import NodeViews
from shakedown.outcomes import Stage


@pytest.mark.parametrize("stage", STAGES)
def test_the_commands_ask_nothing_that_was_not_captured(stage: Stage) -> None:
    assert unanswered(Evidence.load(bundle_of(stage))) == []


def test_the_twins_lie_in_subnets_of_their_own() -> None:
    deployment = load_deployment(FILE)
    evidence = Evidence.load(bundle_of(Stage.HOSTS))
    for node in deployment.node:
        nics = NodeViews(deployment, node, evidence).network.interfaces
        (first,), (twin,) = nics[FIRST].addresses, nics[TWIN].addresses
        assert (nics[FIRST].mtu, nics[TWIN].mtu) == (9000, 9000)
        assert not first.network.overlaps(twin.network)


@pytest.mark.parametrize("stage", STAGES)
def test_the_bundles_say_what_nobody_has_verified(stage: Stage) -> None:
    told = Evidence.load(bundle_of(stage)).unverified
    assert told == captures.unverified()
    assert len(told) == sum(capture.source is None for capture in captures.captures())


def test_a_run_on_such_a_bundle_counts_them(tmp_path: Path) -> None:
    replay = f"--replay={bundle_of(Stage.RAY)}"
    _, run = run_suite("infra", [f"--deployment={FILE}", replay, "-k", "test_fabric_nic_is_up"], tmp_path)
    assert run.coverage is not None
    assert run.coverage.unverified == captures.unverified()


def test_most_of_what_is_shown_has_a_public_source() -> None:
    known = [capture for capture in captures.captures() if capture.source]
    assert len(known) > len(captures.captures()) / 2


def test_a_capture_without_origin_is_refused() -> None:
    with pytest.raises(ValidationError, match="either `source` or `unverified`"):
        Capture(files={"/etc/os-release": "NAME=Ubuntu"})


def test_a_stub_answers_by_arguments_and_refuses_the_rest(tmp_path: Path) -> None:
    answers = [
        Capture(source="https://example.org", tool="probe", arguments="-q name*", output="it's GB10", exit_code=3),
        Capture(source="https://example.org", tool="probe", arguments="run *", run='shift; exec "$@"'),
    ]
    program = tmp_path / "probe"
    program.write_text(captures.stub(answers))

    def ask(*arguments: str) -> tuple[int, str, str]:
        done = subprocess.run(["sh", str(program), *arguments], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout, done.stderr

    assert ask("-q", "name", "x") == (3, "it's GB10\n", "")
    assert ask("run", "echo", "a b") == (0, "a b\n", "")
    assert ask("-q", "uuid") == (captures.NO_CAPTURE, "", "no capture of: probe -q uuid\n")
