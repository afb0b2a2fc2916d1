"""The fixtures over evidence: one snapshot a stage, for views and testinfra, and honest where it cannot be read."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from fixtures.nodes import Snapshots
from selftests.nodes.conftest import Broken
from shakedown.errors import EvidenceError, NodeUnreachableError
from shakedown.inventory.load import load_deployment
from shakedown.launch.opened import Opened
from shakedown.nodes.evidence import Evidence
from shakedown.nodes.fetch import Reach
from shakedown.outcomes import Stage
from shakedown.simulator.deployment import FILE, bundle_of

ROOT = Path(__file__).resolve().parents[2]

CONFTEST = """
pytest_plugins = [
    "fixtures.hooks.options", "fixtures.hooks.selection", "fixtures.deployment", "fixtures.claim",
    "fixtures.hooks.nodes", "fixtures.hooks.gate", "fixtures.hooks.results", "fixtures.nodes",
]
"""

SETTINGS = """
[tool.pytest]
strict = true
asyncio_default_fixture_loop_scope = "session"
filterwarnings = ["error"]
markers = ["infra", "check"]
"""


class Recorded(Opened):
    """A deployment of which there is a recorded bundle for every stage."""

    def __init__(self) -> None:
        self.deployment = load_deployment(FILE)
        self.reach(Stage.HOSTS)

    def reach(self, stage: Stage) -> None:
        self.stage = stage
        self.evidence_file = bundle_of(stage)

    def close(self) -> None:
        pass


TESTS = """
import pytest

pytestmark = pytest.mark.infra

@pytest.mark.check("NET-13", stages=("ray",))
def test_given(view, host, pair, head, rank, node, claim):
    assert set(pair) == {"node-a", "node-b"}
    assert head is pair["node-a"]
    assert rank.final["VLLM_HOST_IP"] == str(node.fabric_address)
    assert view.node is node
    claim(host.backend.get_hostname() == node.name, found="another host", expected=node.name)

@pytest.mark.check("NET-01", stages=("ray",))
def test_unreadable_blocker(host, node, claim):
    claim(host.run("never asked").rc == 0, found="no", expected="yes")

@pytest.mark.check("NET-05", stages=("ray",), needs=("NET-01",))
def test_behind_the_blocker(view, node, claim):
    claim(True, found="", expected="")

@pytest.mark.check("NET-15", stages=("ray",))
def test_unreadable_warning(host, node, claim):
    claim(host.run("never asked").rc == 0, found="no", expected="yes")

@pytest.mark.check("NET-07", stages=("ray",), needs=("NET-15",))
def test_behind_the_warning(view, node, claim):
    claim(True, found="", expected="")

@pytest.fixture
def kernel(host, node):
    host.run("never asked by a fixture")

@pytest.mark.check("PLT-01", stages=("ray",))
def test_blocker_of_a_fixture(kernel, node, claim):
    raise AssertionError("a test without what its fixtures read must not begin")

@pytest.mark.check("PLT-02", stages=("ray",), needs=("PLT-01",))
def test_behind_the_fixture(view, node, claim):
    claim(True, found="", expected="")

@pytest.mark.check("PLT-06", stages=("ray",), severity="warning")
def test_warning_of_a_fixture(kernel, node, claim):
    raise AssertionError("a test without what its fixtures read must not begin")
"""


def run(folder: Path, *options: str) -> str:
    """What pytest prints for the tests above on the recorded pair."""
    (folder / "conftest.py").write_text(CONFTEST)
    (folder / "pyproject.toml").write_text(SETTINGS)
    (folder / "test_it.py").write_text(TESTS)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    settings = ("-c", "pyproject.toml", f"--deployment={FILE}")
    command = [sys.executable, "-m", "pytest", "test_it.py", "-v", "-rs", *settings, *options]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    return f"{done.stdout}{done.stderr}\nexit code {done.returncode}"


@pytest.fixture(scope="module")
def replayed(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """A run on the healthy bundle that keeps what it was told, and the folder in which it ran."""
    folder = tmp_path_factory.mktemp("replayed")
    return run(folder, f"--replay={bundle_of(Stage.RAY)}", "--evidence=kept.json.gz"), folder


def test_a_stage_has_one_snapshot_and_the_next_stage_another() -> None:
    snapshots, opened = Snapshots(None, None), Recorded()
    first = snapshots.current(opened)
    assert snapshots.current(opened) is first
    opened.reach(Stage.RAY)
    second = snapshots.current(opened)
    assert (first.stage, second.stage) == (Stage.HOSTS, Stage.RAY)


def test_every_stage_is_kept(tmp_path: Path) -> None:
    snapshots, opened = Snapshots(None, tmp_path / "kept.json.gz"), Recorded()
    snapshots.current(opened)
    opened.reach(Stage.RAY)
    snapshots.current(opened)
    snapshots.save()
    assert Evidence.load(tmp_path / "kept.json.gz").stage is Stage.HOSTS
    assert Evidence.load(tmp_path / "kept-ray.json.gz").stage is Stage.RAY


def test_what_was_gathered_from_a_node_that_vanished_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is one error, it is not asked again, and the bundle holds what both nodes had said by then."""
    opened, kept = Recorded(), tmp_path / "kept.json.gz"
    opened.evidence_file = None
    ways = {name: Broken(f"echo @ready; sh -s | head -n {heard}") for name, heard in (("node-a", 1), ("node-b", 2))}
    half = Evidence("simulated", Stage.HOSTS, {name: Reach(name, way) for name, way in ways.items()})
    monkeypatch.setattr(Evidence, "of", lambda deployment, stage: half)
    snapshots = Snapshots(None, kept)
    with pytest.raises(NodeUnreachableError, match="node-b over a broken line vanished after 2 of"):
        snapshots.current(opened)
    with pytest.raises(pytest.skip.Exception, match="node-a over a broken line vanished after 1 of"):
        snapshots.current(opened)
    snapshots.save()
    assert [len(Evidence.load(kept).answers(name)) for name in ways] == [1, 2]


def test_a_bundle_of_another_stage_is_refused_once() -> None:
    snapshots, opened = Snapshots(bundle_of(Stage.HOSTS), None), Recorded()
    opened.reach(Stage.RAY)
    with pytest.raises(EvidenceError, match="is of stage hosts, the deployment is at ray"):
        snapshots.current(opened)
    with pytest.raises(pytest.skip.Exception, match="no evidence"):
        snapshots.current(opened)


@pytest.mark.parametrize("node", ["node-a", "node-b"])
@pytest.mark.parametrize(
    ("test", "outcome"),
    [
        ("given", "PASSED"),
        ("unreadable_blocker", "FAILED"),
        ("behind_the_blocker", "SKIPPED"),
        ("unreadable_warning", "FINDING"),
        ("behind_the_warning", "PASSED"),
        ("blocker_of_a_fixture", "FAILED"),
        ("behind_the_fixture", "SKIPPED"),
        ("warning_of_a_fixture", "FINDING"),
    ],
)
def test_unknown_is_not_ok(replayed: tuple[str, Path], test: str, node: str, outcome: str) -> None:
    """Views and Host are there; a blocker that could not be read fails and blocks, a warning is a finding."""
    assert f"test_{test}[{node}] {outcome}" in replayed[0]


def test_what_a_fixture_could_not_read_is_no_error(replayed: tuple[str, Path]) -> None:
    """The check says it in its own words, and nothing of the fault's symptom, which nobody has seen."""
    assert "ERROR" not in replayed[0]
    failures = replayed[0].partition("= FAILURES =")[2]
    told = failures.partition(" test_blocker_of_a_fixture[node-a] ")[2].splitlines()[1:5]
    assert [line.split()[0] for line in told] == ["PLT-01", "node", "why", "to"]
    assert "to `never asked by a fixture`" in told[2]


def test_what_could_not_be_read_is_said(replayed: tuple[str, Path]) -> None:
    assert "could not be judged, is about: " in replayed[0]
    assert "recorded at stage ray, holds no answer of node-a (machine) to `never asked`" in replayed[0]


def test_what_the_nodes_said_is_kept_on_request(replayed: tuple[str, Path]) -> None:
    kept, original = Evidence.load(replayed[1] / "kept.json.gz"), Evidence.load(bundle_of(Stage.RAY))
    assert [kept.answers(node) for node in kept.nodes] == [original.answers(node) for node in original.nodes]


def cut(bundle: bytes) -> bytes:
    return bundle[: len(bundle) // 2]


def newer(bundle: bytes) -> bytes:
    return gzip.compress(gzip.decompress(bundle).replace(b'"version": 1', b'"version": 2', 1))


def renamed(bundle: bytes) -> bytes:
    return gzip.compress(gzip.decompress(bundle).replace(b'"deployment": "simulated"', b'"deployment": "rack-7"', 1))


def other(bundle: bytes) -> bytes:
    return gzip.compress(gzip.decompress(bundle).replace(b'"node-b":', b'"node-c":', 1))


@pytest.mark.parametrize(
    ("damaged", "message"),
    [
        (lambda bundle: b"nothing", "cannot be read as a bundle of evidence"),
        (cut, "is cut off or damaged"),
        (newer, "has bundle version 2, written by shakedown "),
        (renamed, "is of deployment rack-7, this is simulated: take a bundle and a deployment file that belong"),
        (other, "holds nothing of node-b; it holds node-a, node-c"),
    ],
    ids=["none", "cut", "newer", "other deployment", "other nodes"],
)
def test_a_bundle_that_cannot_be_used_is_told_before_any_test(
    damaged: Callable[[bytes], bytes], message: str, tmp_path: Path
) -> None:
    (tmp_path / "bad.json.gz").write_bytes(damaged(bundle_of(Stage.RAY).read_bytes()))
    text = run(tmp_path, "--replay=bad.json.gz")
    assert f"ERROR: --replay: bad.json.gz {message}" in text
    assert "exit code 4" in text
    assert "collected" not in text


def test_a_bundle_that_cannot_be_written_is_no_success(tmp_path: Path) -> None:
    text = run(tmp_path, f"--replay={bundle_of(Stage.RAY)}", "--evidence=/dev/null/kept.json.gz", "-k", "given")
    assert "2 passed" in text
    assert "ERROR: the evidence was not kept: " in text
    assert "\nexit code 4" in text
