"""From what a node says to its memory budget: whose memory the ranks take, and what the engine's defaults are."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from selftests.proofs.bundle_memory import COMPUTING, FAULTS, memory_leaked, memory_taken, own_memory
from selftests.proofs.bundle_platform import KERNEL
from selftests.proofs.gb10 import costume
from selftests.proofs.observe import observe
from shakedown.engines.vllm.budget import Budget
from shakedown.errors import EvidenceError
from shakedown.inventory.load import load_deployment
from shakedown.inventory.model import Deployment, Launch
from shakedown.nodes.evidence import Evidence
from shakedown.nodes.memory_plan import budget_of, holders
from shakedown.nodes.views.node import NodeViews, fetch
from shakedown.outcomes import Stage
from shakedown.simulator.deployment import FILE, bundle_of
from shakedown.units import GIB

Inject = Callable[[Evidence], None]


def views(*, gb10: bool, inject: Inject | None = None) -> tuple[Deployment, NodeViews, NodeViews]:
    """A deployment, its worker and its head, by a recorded bundle that may be changed first."""
    deployment = load_deployment(costume.FILE if gb10 else FILE)
    evidence = Evidence.load(costume.bundle_of(Stage.HOSTS) if gb10 else bundle_of(Stage.HOSTS))
    fetch(deployment, evidence)
    if inject:
        inject(evidence)
    (worker,) = deployment.workers
    return deployment, NodeViews(deployment, worker, evidence), NodeViews(deployment, deployment.head, evidence)


def planned(*, gb10: bool = False, inject: Inject | None = None, serve: str | None = None) -> Budget:
    """The worker's budget."""
    deployment, worker, head = views(gb10=gb10, inject=inject)
    if serve:
        deployment = deployment.model_copy(update={"launch": Launch(serve=serve)})
    return budget_of(worker, head, deployment)


def held(inject: Inject, least: float = 2 * GIB) -> list[str]:
    """Who holds the memory of a dressed worker."""
    deployment, worker, head = views(gb10=True, inject=inject)
    return holders(worker, budget_of(worker, head, deployment), least)


def test_what_the_command_gives_counts_and_the_file_for_the_rest() -> None:
    asked = planned(gb10=True, serve="vllm serve /m --gpu-memory-utilization 0.7 --max-num-seqs 4 -tp 2").settings
    assert (asked.utilization, asked.max_num_seqs, asked.max_model_len) == (0.7, 4, 4096)
    assert asked.known_from == "[launch].serve"


def test_a_script_that_starts_the_server_leaves_the_file() -> None:
    asked = planned(gb10=True, serve="./start-vllm.sh --gpu-memory-utilization 0.1").settings
    assert (asked.utilization, asked.known_from) == (0.8, "the deployment file")


def test_a_process_that_holds_memory_is_named() -> None:
    (named,) = held(memory_taken)
    assert named == "python3 (5120, 113.5 GiB: python3 train.py --resume)"


def test_memory_that_nobody_holds_is_told_as_such() -> None:
    (named,) = held(memory_leaked)
    assert named.endswith("GiB that no process has, but a driver: MEM-09")


def test_what_is_on_the_gpu_is_not_counted_twice() -> None:
    def left(evidence: Evidence) -> None:
        memory_leaked(evidence)
        evidence.change("node-b", COMPUTING, lambda _: "48213, VLLM::Worker_TP1, 36864\n")

    assert held(left) == ["VLLM::Worker_TP1 (48213, 36.0 GiB) on the GPU"]


def test_nodes_that_are_alike_show_one_account(tmp_path: Path) -> None:
    (cramped,) = (fault for fault in FAULTS if fault.name == "gb10-no-headroom")
    shown = observe(cramped, tmp_path).text
    assert shown.count("found     2.0 GiB will be left") == 2
    assert shown.count("gpu_memory_utilization = 0.88, by") == 1
    assert shown.count("the account is that of node-a, within 0.5 GiB") == 1


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
