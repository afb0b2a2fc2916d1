"""The memory of each node from now to readiness, computed before the launch.

Every number that is no one's declaration is an estimate (see `shakedown/engines/vllm/budget.py`): a claim is made where
even a kind estimate does not fit, and its finding shows the whole account.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fixtures.claim import Claim
from shakedown.engines.vllm.budget import GIB, Budget, table
from shakedown.inventory.model import Deployment, Node
from shakedown.nodes.memory_plan import budget_of
from shakedown.nodes.views.node import NodeViews

pytestmark = pytest.mark.infra

BEFORE_LAUNCH = ("hosts", "ray")


Planned = Callable[[], Budget]


@pytest.fixture
def planned(view: NodeViews, node: Node, deployment: Deployment) -> Planned:
    """What this node's memory must hold, once asked for: what cannot be read is then a finding."""
    return lambda: budget_of(view, node, deployment)


@pytest.mark.check("MEM-03", stages=BEFORE_LAUNCH, needs=("PLT-02",))
def test_utilization_can_be_reached(planned: Planned, deployment: Deployment, claim: Claim) -> None:
    """The declared utilisation is one that the node could give if nothing else ran on it."""
    _needs_utilization(deployment)
    budget = planned()
    asked, reachable = deployment.serve.gpu_memory_utilization, budget.reachable_utilization
    claim(
        asked <= reachable,
        found=f"gpu_memory_utilization = {asked:g}",
        expected=f"at most {reachable:.2f}: of {budget.machine.device.total / GIB:.1f} GiB system and context take "
        f"{(budget.reserves.system + budget.beside) / GIB:.1f} (profile {deployment.profile.name})",
    )


@pytest.mark.check("MEM-02", stages=BEFORE_LAUNCH, needs=("MEM-03", "MOD-03"))
def test_enough_is_free_for_a_rank_to_start(planned: Planned, claim: Claim) -> None:
    """When a rank looks for its share of the memory, that much is free on every node."""
    budget = planned()
    claim(
        budget.starts,
        found=f"{budget.free_at_start / GIB:.1f} GiB will be free\n{table(budget)}",
        expected=f"{budget.requested / GIB:.1f} GiB, which a rank takes or does not start",
    )


@pytest.mark.check("MEM-04", stages=BEFORE_LAUNCH, needs=("MEM-03", "MOD-03"))
def test_share_holds_the_weights_and_a_step(planned: Planned, claim: Claim) -> None:
    """The share of each rank holds its weights and one step, so that something is left for the KV cache."""
    budget = planned()
    claim(
        budget.kv_room > 0,
        found=f"{budget.kv_room / GIB:.1f} GiB are left for the KV cache\n{table(budget)}",
        expected="more than nothing",
    )


@pytest.mark.check("MEM-05", stages=BEFORE_LAUNCH, needs=("MEM-04",))
def test_kv_cache_holds_the_longest_request(planned: Planned, deployment: Deployment, claim: Claim) -> None:
    """The KV cache of each rank holds one request of the declared length."""
    tokens = deployment.model.max_model_len
    budget = planned()
    need, longest = budget.kv_need(tokens), budget.longest_context
    if need is None:
        pytest.skip("config.json does not tell layers and heads, so the need is not known")
    claim(
        need <= budget.kv_room,
        found=f"max_model_len = {tokens} needs {need / GIB:.2f} GiB of {budget.kv_room / GIB:.2f}\n{table(budget)}",
        expected=f"max_model_len of at most {longest}",
    )


@pytest.mark.check("MEM-08", stages=BEFORE_LAUNCH, needs=("MEM-02", "MEM-04"))
def test_headroom_stays_at_the_worst_moment(planned: Planned, deployment: Deployment, claim: Claim) -> None:
    """At the worst moment of the start every node still has the profile's headroom of free memory."""
    budget = planned()
    claim(
        budget.low_water >= budget.reserves.headroom,
        found=f"{budget.low_water / GIB:.1f} GiB will be left\n{table(budget)}",
        expected=f"{deployment.profile.memory_headroom_gib:g} GiB (profile {deployment.profile.name})",
    )


@pytest.mark.check("MEM-01", stages=BEFORE_LAUNCH, needs=("MEM-02", "MEM-04"))
def test_peak_stays_below_rays_threshold(planned: Planned, claim: Claim) -> None:
    """At the worst moment no node uses so much memory that Ray's monitor, as declared, would kill a rank."""
    budget = planned()
    threshold = budget.settings.kill_threshold
    if threshold is None:
        pytest.skip("ray.memory_monitor is disabled, so Ray kills nothing")
    claim(
        budget.peak_share < threshold,
        found=f"{budget.peak_share:.1%} of the memory will be in use\n{table(budget)}",
        expected=f"less than {threshold:.1%}, where Ray kills; or RAY_memory_monitor_refresh_ms=0",
    )


@pytest.mark.check("MEM-07", stages=BEFORE_LAUNCH, needs=("MEM-02",))
def test_page_cache_does_not_stand_in_the_way(view: NodeViews, planned: Planned, claim: Claim) -> None:
    """Where CPU and GPU share memory, what a rank takes is free now, and not page cache that is yet to be dropped."""
    budget = planned()
    if budget.machine.kind != "unified":
        pytest.skip("no accelerator here shares the machine's memory with its page cache")
    claim(
        view.memory.free >= budget.requested,
        found=f"{view.memory.free / GIB:.1f} GiB free, {view.memory.available / GIB:.1f} GiB with page cache dropped",
        expected=f"{budget.requested / GIB:.1f} GiB free before the load, which fills the page cache with "
        f"{budget.page_cache / GIB:.1f} GiB of shards by itself",
    )


@pytest.mark.check("MEM-11", stages=("ray",), needs=("RAY-01", "MEM-08"))
def test_object_store_fits_beside_the_model(
    node: Node, pair: dict[str, NodeViews], deployment: Deployment, planned: Planned, claim: Claim
) -> None:
    """What Ray may take for its object store is still there when the model is loaded."""
    rows = [row for row in pair[deployment.head.name].ray.cluster.alive if row.address == str(node.fabric_address)]
    store = max((row.resources.get("object_store_memory", 0.0) for row in rows), default=0.0)
    budget = planned()
    claim(
        store <= budget.low_water,
        found=f"object_store_memory = {store / GIB:.1f} GiB, {budget.low_water / GIB:.1f} GiB left at the worst moment",
        expected="an object store that fits into what is left",
    )


@pytest.mark.check("MEM-15", stages=BEFORE_LAUNCH)
def test_steps_are_not_too_large(planned: Planned, deployment: Deployment, claim: Claim) -> None:
    """One step takes no more tokens than this kind of hardware was seen to bear."""
    most = deployment.profile.batched_tokens_max
    if most is None:
        pytest.skip(f"profile {deployment.profile.name} names no limit")
    budget = planned()
    tokens = budget.settings.max_num_batched_tokens
    claim(tokens <= most, found=f"max_num_batched_tokens = {tokens}", expected=f"at most {most}")


def _needs_utilization(deployment: Deployment) -> None:
    if deployment.serve.kv_cache_memory_gib is not None:
        pytest.skip("the KV cache has a given size, so the utilisation decides nothing")
