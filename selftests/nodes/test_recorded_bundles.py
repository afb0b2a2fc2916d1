"""The healthy bundles that belong to the project: complete, neutral, and enough for every check of tier 0."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import pytest

from selftests.proofs.observe import run_suite
from shakedown.inventory.load import load_deployment
from shakedown.nodes.evidence import Evidence
from shakedown.nodes.views.node import commands, fetch
from shakedown.outcomes import Stage
from shakedown.report.results import Outcome
from shakedown.simulator.deployment import FILE, bundle_of

FOREIGN = re.compile(r"/(?:home|root|work|mnt|opt|srv|media|Users)/[^\s\"]*|\S*\.venv\S*")
"""A path of the machine on which the bundle was recorded; the embedded nodes have everything under /run and /tmp."""

ADDRESS = re.compile(r"\b(?!0\.|127\.|192\.168\.200\.|198\.18\.|8\.8\.8\.8|1\.)\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}\b")


@pytest.mark.parametrize("stage", list(Stage))
def test_a_bundle_answers_every_command_of_the_views(stage: Stage) -> None:
    """All that the views may ask was fetched ahead, so that no check of a run asks anything live."""
    deployment, evidence = load_deployment(FILE), Evidence.load(bundle_of(stage))
    fetch(deployment, evidence)
    assert evidence.stage is stage
    for node in deployment.node:
        for command in commands(deployment, node):
            assert evidence.ask(node.name, command).ahead


@pytest.mark.parametrize("stage", list(Stage))
def test_a_run_on_a_bundle_finds_nothing_and_asks_nothing_more(stage: Stage, tmp_path: Path) -> None:
    """Every warning counts as a failure; what the run knew at its end is what the bundle holds."""
    kept = tmp_path / "kept.json.gz"
    _, run = run_suite("infra", ["--deployment", "simulated", "--stage", stage, "--evidence", str(kept)], tmp_path)
    assert {test.outcome for test in run.tests} == {Outcome.PASSED, Outcome.SKIPPED}
    told, bundle = Evidence.load(kept), Evidence.load(bundle_of(stage))
    assert [told.answers(node) for node in told.nodes] == [bundle.answers(node) for node in bundle.nodes]
    assert all(answer.ahead for node in told.nodes for answer in told.answers(node))


@pytest.mark.parametrize("stage", list(Stage))
def test_a_bundle_tells_nothing_of_the_machine_it_was_recorded_on(stage: Stage) -> None:
    text = gzip.decompress(bundle_of(stage).read_bytes()).decode()
    assert not FOREIGN.findall(text)
    assert not ADDRESS.findall(text)


def test_no_command_depends_on_an_answer() -> None:
    """The commands of a node are known from the deployment file alone, in one order."""
    deployment = load_deployment(FILE)
    for node in deployment.node:
        assert commands(deployment, node) == commands(deployment, node)
        keys = [command.key for command in commands(deployment, node)]
        assert len(keys) == len(set(keys))
