"""From what a node says to its memory budget: whose memory the ranks take, and what the engine's defaults are."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from selftests.proofs.bundle_memory import own_memory
from selftests.proofs.bundle_platform import KERNEL
from selftests.proofs.gb10 import costume
from shakedown.engines.vllm.budget import GIB, Budget
from shakedown.errors import EvidenceError
from shakedown.inventory.load import load_deployment
from shakedown.nodes.evidence import Evidence
from shakedown.nodes.memory_plan import budget_of
from shakedown.nodes.views.node import NodeViews, fetch
from shakedown.outcomes import Stage
from shakedown.simulator.deployment import FILE, bundle_of


def planned(*, gb10: bool = False, inject: Callable[[Evidence], None] | None = None) -> Budget:
    """The worker's budget, by a recorded bundle that may be changed first."""
    deployment = load_deployment(costume.FILE if gb10 else FILE)
    evidence = Evidence.load(costume.bundle_of(Stage.HOSTS) if gb10 else bundle_of(Stage.HOSTS))
    fetch(deployment, evidence)
    if inject:
        inject(evidence)
    (worker,) = deployment.workers
    return budget_of(NodeViews(deployment, worker, evidence), worker, deployment)


def test_a_gb10_shares_its_memory() -> None:
    budget = planned(gb10=True)
    assert budget.machine.kind == "unified"
    assert budget.machine.device == budget.machine.host
    assert (budget.settings.max_num_seqs, budget.settings.max_num_batched_tokens) == (1024, 8192)
    assert budget.graphs == GIB


def test_without_a_gpu_the_engine_runs_on_the_machines_memory() -> None:
    budget = planned()
    assert budget.machine.kind == "none"
    assert budget.settings.kv_cache_bytes == GIB // 4
    assert budget.graphs == 0
    assert budget.starts
    assert budget.serves


def test_a_gpu_with_its_own_memory_is_asked_for_it() -> None:
    budget = planned(inject=own_memory(90_000))
    assert budget.machine.kind == "discrete"
    assert budget.machine.device.available == 90_000 * 1024**2
    assert budget.machine.device != budget.machine.host


def test_memory_of_a_gpu_without_a_driver_is_not_guessed() -> None:
    def on_the_bus(evidence: Evidence) -> None:
        evidence.change("node-b", KERNEL, lambda text: f"{text}gpu 0000:01:00.0\n")

    with pytest.raises(EvidenceError, match="no nvidia-smi"):
        planned(inject=on_the_bus)
