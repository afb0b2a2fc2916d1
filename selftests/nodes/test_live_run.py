"""Tier 0 on two real nodes, stage by stage: one round trip each, nothing asked after it, nothing changed by it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from selftests.nodes import traces
from selftests.nodes.confined import NOBODY, READING, Confined
from selftests.proofs.observe import run_suite
from shakedown.embedded.deployment import EmbeddedDeployment
from shakedown.embedded.node import OWN, PYTHON
from shakedown.embedded.up import Options, start
from shakedown.inventory.load import load_deployment
from shakedown.inventory.model import Deployment
from shakedown.nodes.answer import Command
from shakedown.nodes.evidence import Evidence
from shakedown.nodes.fetch import Reach
from shakedown.nodes.golden import drift
from shakedown.nodes.transport import machine_transport
from shakedown.nodes.views.node import commands, fetch
from shakedown.outcomes import Stage
from shakedown.report.results import CheckResult, Outcome

pytestmark = pytest.mark.embedded

ONLY_FOR_ROOT = ("rules of the firewall",)
"""What takes a capability that could change things, too (CAP_NET_ADMIN): unknown without it."""

OF_WHO_ASKS = ("locked memory",)
"""What is told of the process that asks itself: without a capability (CAP_IPC_LOCK) it may lock less."""

LISTENS = f"{PYTHON} -c 'import socket, time; s = socket.create_server((str(), 7999)); time.sleep(4)'"

Rights = tuple[tuple[str, ...] | None, int]
"""Capabilities and user of `Confined`."""

FirstRun = tuple[Path, dict[str, CheckResult]]
"""The bundle that a run kept, and its results by test."""


@pytest.fixture(scope="module")
def running() -> Iterator[EmbeddedDeployment]:
    """Two nodes, taken from stage to stage."""
    with start(Options(owned=True)) as deployment:
        yield deployment


@pytest.fixture(scope="module", params=list(Stage))
def stage(running: EmbeddedDeployment, request: pytest.FixtureRequest) -> Stage:
    """The stage at which they are."""
    reached: Stage = request.param
    running.reach(reached)
    return reached


@pytest.fixture(scope="module")
def first_run(running: EmbeddedDeployment, stage: Stage, tmp_path_factory: pytest.TempPathFactory) -> FirstRun:
    """A run of the suite at that stage, with every warning as a failure: what it was told, and its results."""
    kept = tmp_path_factory.mktemp("run") / "kept.json.gz"
    return kept, results(running.file, ("--evidence", str(kept)), kept.parent)


def results(file: Path, options: Sequence[str], folder: Path) -> dict[str, CheckResult]:
    """The results of a run of the infra suite, by test."""
    _, run = run_suite("infra", ["--deployment", str(file), *options], folder)
    return {test.nodeid: test for test in run.tests}


def asked_again(deployment: Deployment, stage: Stage, confined: Rights | None = None) -> Evidence:
    """What the nodes say to the same questions now."""
    ways = {node.name: machine_transport(node) for node in deployment.node}
    if confined:
        ways = {name: Confined(way, *confined) for name, way in ways.items()}
    evidence = Evidence(deployment.name, stage, {name: Reach(name, way) for name, way in ways.items()})
    fetch(deployment, evidence)
    return evidence


def differing(deployment: Deployment, then: Path, now: Evidence) -> dict[str, list[str]]:
    """Keys of the commands that each node answers otherwise, and how."""
    golden = Evidence.load(then)
    return {
        node.name: [str(difference) for difference in drift(golden, now, node, commands(deployment, node))]
        for node in deployment.node
    }


def test_every_node_is_asked_once_and_nothing_is_found(first_run: FirstRun) -> None:
    """Whatever a test wanted to know had been fetched ahead: no answer of the run was asked alone."""
    kept, tests = first_run
    assert {test.outcome for test in tests.values()} == {Outcome.PASSED, Outcome.SKIPPED}
    evidence = Evidence.load(kept)
    answers = [answer for node in evidence.nodes for answer in evidence.answers(node)]
    assert answers
    assert all(answer.ahead for answer in answers)
    assert {len({answer.asked for answer in evidence.answers(node)}) for node in evidence.nodes} == {1}


def test_asking_again_shows_no_drift(running: EmbeddedDeployment, stage: Stage, first_run: FirstRun) -> None:
    deployment = load_deployment(running.file)
    assert differing(deployment, first_run[0], asked_again(deployment, stage)) == {"node-a": [], "node-b": []}


def test_asking_leaves_nothing_behind(
    running: EmbeddedDeployment, stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where Ray or the engine is at work, it starts processes and opens ports by itself at any time."""
    monkeypatch.setenv("HOME", str(OWN / "home"))  # of the nodes, so that what a library keeps there is seen
    deployment = load_deployment(running.file)
    kinds = ("processes", "sockets", "settings", "files") if stage is Stage.HOSTS else ("settings", "files")
    before = [traces.of_node(node) for node in running.nodes]
    asked_again(deployment, stage)
    after = [traces.of_node(node) for node in running.nodes]
    for was, now in zip(before, after, strict=True):
        assert {kind: was[kind] ^ now[kind] for kind in kinds} == {kind: frozenset() for kind in kinds}


def test_on_a_read_only_node_all_is_said_as_well(
    running: EmbeddedDeployment, stage: Stage, first_run: FirstRun
) -> None:
    """No file system can be written and no capability is left that changes anything: the same answers but two."""
    deployment = load_deployment(running.file)
    confined = differing(deployment, first_run[0], asked_again(deployment, stage, (READING, 0)))
    told = [difference for node in confined.values() for difference in node]
    unread = [difference for difference in told if not difference.startswith(OF_WHO_ASKS)]
    assert len(told) - len(unread) == len(confined)
    assert all(difference.startswith(ONLY_FOR_ROOT) for difference in unread)
    assert len(unread) == (len(confined) if shutil.which("nft") or shutil.which("iptables") else 0)


@pytest.mark.parametrize("confined", [(READING, 0), (None, NOBODY)], ids=["root that only reads", "ordinary user"])
def test_what_may_not_be_read_is_unknown_and_never_wrong(
    running: EmbeddedDeployment,
    stage: Stage,
    first_run: FirstRun,
    confined: Rights,
    tmp_path: Path,
) -> None:
    """Each finding that the full rights did not bring says that it could not be judged; none is an error."""
    if stage is not Stage.RAY:
        pytest.skip("shown once, where most is asked")
    kept = tmp_path / "confined.json.gz"
    asked_again(load_deployment(running.file), stage, confined).save(kept)
    tests = results(running.file, ("--replay", str(kept)), tmp_path)
    changed = [test for name, test in tests.items() if test.outcome is not first_run[1][name].outcome]
    wrong = [
        f"{test.nodeid}: {test.finding.found if test.finding else test.reason}"
        for test in changed
        if not (test.finding and not test.finding.judged) and not test.reason.startswith("blocked by ")
    ]
    assert wrong == []
    assert bool(changed) or not shutil.which("nft")


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("touch /tmp/left", {"files"}),
        ("sysctl -qw net.ipv4.tcp_fin_timeout=59", {"settings"}),
        (f"setsid {LISTENS} >/dev/null 2>&1 & sleep 2", {"processes", "sockets"}),
    ],
    ids=["file", "setting", "listener"],
)
def test_what_is_left_behind_would_be_seen(running: EmbeddedDeployment, text: str, kinds: set[str]) -> None:
    """The other side of what is left behind: none of the kinds is blind."""
    head = running.nodes[0]
    before = traces.of_node(head)
    Evidence.of(load_deployment(running.file), running.stage).ask(head.name, Command(text))
    after = traces.of_node(head)
    assert {kind for kind in before if before[kind] != after[kind]} >= kinds
