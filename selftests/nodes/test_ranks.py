"""By which release's rules ranks are judged: that of the number, or that of the installed sources."""

from __future__ import annotations

import pytest

from selftests.proofs.bundle import HEAD, in_json
from selftests.proofs.bundle_environment import ENGINE, VERSIONS
from shakedown.engines.vllm.handover import HandOver
from shakedown.errors import EvidenceError
from shakedown.inventory.load import load_deployment
from shakedown.nodes.evidence import Evidence
from shakedown.nodes.ranks import driver_of, rules_of
from shakedown.nodes.views.node import NodeViews, fetch
from shakedown.outcomes import Stage
from shakedown.simulator.deployment import FILE, bundle_of


def rules(version: str, traits: list[str] | None) -> HandOver:
    """Those of a head with that engine."""
    deployment, evidence = load_deployment(FILE), Evidence.load(bundle_of(Stage.HOSTS))
    fetch(deployment, evidence)
    in_json(evidence, HEAD, VERSIONS, lambda found: found.update(vllm=version))
    in_json(evidence, HEAD, ENGINE, lambda found: found.update(traits=traits))
    head = NodeViews(deployment, deployment.head, evidence)
    return rules_of(head, deployment, driver_of(head, deployment))


@pytest.mark.parametrize(
    ("traits", "overwrites"),
    [([], True), (["second executor"], True), (["second executor", "second executor by default"], False)],
)
def test_a_build_without_a_number_is_judged_by_its_sources(traits: list[str], overwrites: bool) -> None:
    assert rules("0.1.dev1+g1b4fe3a", traits).overwrites is overwrites


def test_a_build_between_two_releases_has_the_rules_of_its_sources() -> None:
    assert rules("0.20.2", ["second executor by default"]).everything
    assert rules("0.32.0", []).everything


def test_what_neither_number_nor_sources_tell_is_not_judged() -> None:
    with pytest.raises(EvidenceError, match="any release"):
        rules("0.1.dev1+g1b4fe3a", None)
