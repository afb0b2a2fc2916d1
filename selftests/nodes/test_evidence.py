"""Evidence: asked once, kept, judged again; and what it says when it cannot."""

from __future__ import annotations

import gzip
import json
import os
import time
from pathlib import Path

import pytest

from selftests.nodes.conftest import Broken, Counting
from shakedown.errors import EvidenceError, NodeUnreachableError
from shakedown.nodes.answer import CUT_OFF, Command, Place
from shakedown.nodes.backend import host_for
from shakedown.nodes.evidence import Evidence
from shakedown.nodes.fetch import Reach
from shakedown.nodes.session import SETTLE_S
from shakedown.nodes.transport import DockerExec, Local
from shakedown.outcomes import Stage

ECHO = Command("echo one")
KEYED = Command("printf 'two words'", key="two")


def test_what_waits_for_another_row_knows_how_long_it_took(evidence: Evidence) -> None:
    """Each answer has its own time, also the last of a row, and rows are remembered in their order."""
    asked = [Command("sleep 0.2; echo b", row="beside"), Command("echo a"), Command("sleep 0.1; echo c", row="beside")]
    evidence.fetch({"a": asked})
    durations = [answer.duration_s or 0.0 for answer in evidence.answers("a")]
    assert [answer.text for answer in evidence.answers("a")] == ["b\n", "c\n", "a\n"]
    assert durations[0] >= 0.2
    assert durations[1] >= 0.1
    assert durations[2] >= 0


def test_all_commands_take_one_round_trip_a_node(evidence: Evidence, machines: dict[str, Counting]) -> None:
    evidence.fetch({name: [ECHO, KEYED, Command("cat /proc/meminfo")] for name in machines})
    assert [evidence.ask(name, ECHO).text for name in machines] == ["one\n", "one\n"]
    assert [machine.connections for machine in machines.values()] == [1, 1]
    assert all(answer.ahead for answer in evidence.answers("a"))


def test_nodes_are_asked_at_the_same_time(evidence: Evidence) -> None:
    """Every node had been asked before the first had answered."""
    slow = Command("sleep 1")
    evidence.fetch({name: [slow] for name in evidence.nodes})
    answers = [evidence.ask(name, slow) for name in evidence.nodes]
    assert max(answer.asked for answer in answers) < min(answer.answered for answer in answers)


def test_what_was_not_fetched_is_asked_once(evidence: Evidence, machines: dict[str, Counting]) -> None:
    for _ in range(3):
        assert evidence.ask("a", ECHO).text == "one\n"
    assert machines["a"].connections == 1
    assert not evidence.answers("a")[0].ahead


ENDLESS = Command("echo begun; yes", most_bytes=1000)


@pytest.mark.parametrize("ahead", [True, False], ids=["ahead", "live"])
def test_a_command_that_prints_without_end_is_cut_off_and_its_beginning_kept(
    evidence: Evidence, ahead: bool, tmp_path: Path
) -> None:
    if ahead:
        evidence.fetch({"a": [ENDLESS, ECHO]})
    answer = evidence.ask("a", ENDLESS)
    assert (answer.exit_code, len(answer.stdout), answer.text[:8]) == (CUT_OFF, 1000, "begun\ny\n")
    assert evidence.ask("a", ECHO).text == "one\n"
    unfinished = ENDLESS.unfinished("a", answer.exit_code)
    assert unfinished is not None
    assert unfinished.why == "`echo begun; yes` on a printed more than 1000 bytes and was cut off"
    evidence.save(tmp_path / "kept.json.gz")
    assert Evidence.load(tmp_path / "kept.json.gz").ask("a", ENDLESS) == answer


def test_a_kept_bundle_answers_without_any_node(evidence: Evidence, tmp_path: Path) -> None:
    huge = Command("head -c 5000000 /dev/zero")
    evidence.fetch({name: [ECHO, KEYED, Command(r"printf '\377\0'"), huge] for name in evidence.nodes})
    evidence.save(tmp_path / "kept.json.gz")
    kept = Evidence.load(tmp_path / "kept.json.gz")
    assert kept.stage is Stage.HOSTS
    assert kept.deployment == "pair"
    for name in evidence.nodes:
        assert kept.answers(name) == evidence.answers(name)


def test_equal_evidence_gives_an_equal_file(evidence: Evidence, tmp_path: Path) -> None:
    evidence.fetch({"a": [ECHO]})
    for name in ("1", "2"):
        evidence.save(tmp_path / name)
    assert (tmp_path / "1").read_bytes() == (tmp_path / "2").read_bytes()


def test_a_script_is_found_by_its_key_whatever_its_text(evidence: Evidence, tmp_path: Path) -> None:
    """A bundle outlives a change of wording in a script, and names no interpreter of one machine."""
    evidence.fetch({"a": [KEYED]})
    evidence.save(tmp_path / "kept")
    kept = Evidence.load(tmp_path / "kept")
    kept.declare([Command("printf %s 'two words'", key="two")])
    assert host_for(kept, "a").run("printf %s 'two words'").stdout == "two words"


def test_an_unknown_command_of_a_bundle_is_said_so(evidence: Evidence, tmp_path: Path) -> None:
    evidence.save(tmp_path / "kept")
    with pytest.raises(EvidenceError, match=r"kept, recorded at stage hosts, holds no answer of a .*`echo one`"):
        Evidence.load(tmp_path / "kept").ask("a", ECHO)


def test_an_unknown_node_is_said_so(evidence: Evidence) -> None:
    with pytest.raises(EvidenceError, match="nothing of a node c; it holds a, b"):
        evidence.ask("c", ECHO)


@pytest.mark.parametrize("share", [0.0, 0.5, 0.95])
def test_a_bundle_that_is_cut_is_said_so(evidence: Evidence, tmp_path: Path, share: float) -> None:
    evidence.fetch({"a": [Command("head -c 3000 /dev/urandom")]})
    file = tmp_path / "cut"
    evidence.save(file)
    file.write_bytes(file.read_bytes()[: int(file.stat().st_size * share)])
    with pytest.raises(EvidenceError, match=r"cut off or damaged|cannot be read as a bundle"):
        Evidence.load(file)


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"format": "shakedown evidence", "version": 2, "written_by": "9.0"}, "bundle version 2, written by .* 9.0"),
        ({"format": "shakedown evidence", "version": 1}, "recorded: Field required"),
        ({"some": "json"}, "is no bundle of evidence"),
        ([], "is no bundle of evidence"),
    ],
    ids=["newer", "fields missing", "other json", "list"],
)
def test_what_is_no_bundle_is_refused(document: object, message: str, tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(gzip.compress(json.dumps(document).encode()))
    with pytest.raises(EvidenceError, match=message):
        Evidence.load(tmp_path / "x")


def test_a_bundle_that_is_not_there_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(EvidenceError, match="there is no such bundle"):
        Evidence.load(tmp_path / "none")


def test_what_is_not_compressed_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("{}")
    with pytest.raises(EvidenceError, match="cannot be read as a bundle"):
        Evidence.load(tmp_path / "x")


def test_secrets_are_not_recorded(evidence: Evidence, tmp_path: Path) -> None:
    evidence.fetch({"a": [Command("echo HF_TOKEN=abcdef; echo 'Authorization: Bearer abcdef' >&2")]})
    evidence.save(tmp_path / "kept")
    assert b"abcdef" not in gzip.decompress((tmp_path / "kept").read_bytes()).split(b'"stdout"', 1)[1]


def test_a_node_that_does_not_answer_is_named() -> None:
    evidence = Evidence("pair", Stage.HOSTS, {"a": Reach("a", Broken("echo 'no route to host' >&2; exit 255"))})
    with pytest.raises(NodeUnreachableError, match=r"a over a broken line does not answer: no route to host .*255"):
        evidence.fetch({"a": [ECHO]})


def test_a_program_that_is_missing_is_named() -> None:
    class Missing(Local):
        def argv(self, script: str) -> list[str]:
            return ["/no/such/program"]

    with pytest.raises(NodeUnreachableError, match="No such file"):
        Evidence("pair", Stage.HOSTS, {"a": Reach("a", Missing())}).ask("a", ECHO)


def test_a_node_that_vanishes_half_way_leaves_what_it_said() -> None:
    """The line to one node breaks after the first answer; the other node is heard to the end."""
    vanishing = Broken("echo @ready; sh -s | head -n 1")
    evidence = Evidence("pair", Stage.HOSTS, {"a": Reach("a", vanishing), "b": Reach("b", Local())})
    with pytest.raises(NodeUnreachableError, match=r"a over a broken line vanished after 1 of 3 answers"):
        evidence.fetch({"a": [ECHO, KEYED, Command("echo three")], "b": [ECHO, KEYED]})
    assert [answer.text for answer in evidence.answers("a")] == ["one\n"]
    assert [answer.text for answer in evidence.answers("b")] == ["one\n", "two words"]


def test_a_node_that_falls_silent_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shakedown.nodes.session.SETTLE_S", 0.3)
    assert SETTLE_S > 10
    silent = Broken("echo @ready; exec sleep 60")
    began = time.monotonic()
    with pytest.raises(NodeUnreachableError, match="silent for too long at `echo one`"):
        Evidence("pair", Stage.HOSTS, {"a": Reach("a", silent)}).ask("a", Command("echo one", limit_s=1))
    assert time.monotonic() - began < 10


def test_a_login_banner_does_not_disturb() -> None:
    chatty = Broken("echo Welcome; echo @ready; echo more; exec sh -s")
    assert Evidence("pair", Stage.HOSTS, {"a": Reach("a", chatty)}).ask("a", ECHO).text == "one\n"


def test_what_runs_in_a_container_is_fetched_in_the_same_round_trip(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, machines: dict[str, Counting]
) -> None:
    """A stand-in for docker shows which arguments it got and runs the rest, as `docker exec` would."""
    docker = tmp_path / "docker"
    docker.write_text(
        '#!/bin/sh\n[ "$1 $2" = "exec -i" ] || exit 9\nIN_CONTAINER=$3; export IN_CONTAINER\nshift 3\nexec "$@"\n'
    )
    docker.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    machine = machines["a"]
    evidence = Evidence("pair", Stage.HOSTS, {"a": Reach("a", machine, DockerExec(machine, "it's vllm"))})
    text = 'printf %s "${IN_CONTAINER:-the machine}"'
    inside, outside = Command(text, Place.ENGINE), Command(text, Place.MACHINE)
    evidence.fetch({"a": [inside, outside]})
    assert (evidence.ask("a", inside).text, evidence.ask("a", outside).text) == ("it's vllm", "the machine")
    assert machine.connections == 1


def test_testinfra_speaks_from_evidence(evidence: Evidence, machines: dict[str, Counting]) -> None:
    host = host_for(evidence, "a")
    assert host.file("/etc/passwd").exists
    assert host.run("printf %s", "it's $HOME").stdout == "it's $HOME"
    assert host.system_info.type == "linux"
    assert host.interface("lo").exists
    asked = machines["a"].connections
    assert host_for(evidence, "a").file("/etc/passwd").exists
    assert machines["a"].connections == asked


def test_a_change_must_change_something(evidence: Evidence) -> None:
    evidence.fetch({"a": [ECHO]})
    evidence.change("a", "echo", str.upper, exit_code=7)
    assert (evidence.ask("a", ECHO).text, evidence.ask("a", ECHO).exit_code) == ("ONE\n", 7)
    for key, edit in (("nothing", str.lower), ("echo", str.upper)):
        with pytest.raises(EvidenceError, match="nothing to change at a"):
            evidence.change("a", key, edit)
