"""The memory of each node from now to readiness, computed before the launch.

Every number that is no one's declaration is an estimate (see `shakedown/engines/vllm/budget.py`): a claim is made where
even a kind estimate does not fit, and its finding shows the whole account.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

import pytest

from fixtures.claim import Claim
from shakedown.engines.vllm.account import table
from shakedown.engines.vllm.budget import Budget
from shakedown.inventory.model import Deployment, Node
from shakedown.nodes.memory_plan import budget_of, holders
from shakedown.nodes.views.node import NodeViews
from shakedown.units import GIB, gib

pytestmark = pytest.mark.infra

BEFORE_LAUNCH = ("hosts", "ray")

ALIKE_GIB = 0.5
"""Difference in free memory up to which the accounts of two nodes are told as one."""


Planned = Callable[[], Budget]


class Fits(Protocol):
    """A claim about a node's budget."""

    def __call__(self, budget: Budget, holds: bool, *, found: str, expected: str) -> None:
        """Raise the finding unless ``holds``, with the whole account behind what was found."""


@dataclass
class Accounts:
    """The accounts that findings of this run have shown: of nodes that are alike, one is enough."""

    shown: list[tuple[str, Node, Budget]] = field(default_factory=list)

    def of(self, budget: Budget, node: Node, check: str) -> str:
        """The table of a node; where a finding of the same check shows that of a node like it, the name of that."""
        for other, first, known in self.shown:
            if other == check and first != node and known.is_like(budget, ALIKE_GIB * GIB):
                return f"the account is that of {first.name}, within {ALIKE_GIB:g} GiB"
        self.shown.append((check, node, budget))
        return table(budget)


@pytest.fixture(scope="session")
def accounts() -> Accounts:
    """What this run has shown."""
    return Accounts()


@pytest.fixture
def planned(view: NodeViews, head: NodeViews, deployment: Deployment) -> Planned:
    """What this node's memory must hold, once asked for: what cannot be read is then a finding."""
    return lambda: budget_of(view, head, deployment)


@pytest.fixture
def fits(request: pytest.FixtureRequest, claim: Claim, node: Node, accounts: Accounts) -> Fits:
    """A claim about this node's budget, for a test that carries the marker ``check``."""

    def judge(budget: Budget, holds: bool, *, found: str, expected: str) -> None:
        account = "" if holds else accounts.of(budget, node, request.function.__name__)
        claim(holds, found=f"{found}\n{account}", expected=expected)

    return judge


@pytest.mark.check("MEM-03", stages=BEFORE_LAUNCH, needs=("PLT-02",))
def test_utilization_can_be_reached(planned: Planned, deployment: Deployment, claim: Claim) -> None:
    """The utilisation asked for is one that the node could give if nothing else ran on it."""
    budget = planned()
    if not budget.looks_for_share:
        pytest.skip("the KV cache has a given size, and no GPU is looked at, so the utilisation decides nothing")
    asked, reachable = budget.settings, budget.reachable_utilization
    origin = deployment.profile.origin("system_memory_gib", "rank_overhead_gib")
    claim(
        asked.utilization <= reachable,
        found=f"gpu_memory_utilization = {asked.utilization:g}, by {asked.known_from}",
        expected=f"at most {reachable:.2f}: of {gib(budget.machine.device.total)} system and context take "
        f"{gib(budget.reserves.system + budget.beside)} ({origin})",
    )


@pytest.mark.check("MEM-02", stages=BEFORE_LAUNCH, needs=("MEM-03", "MOD-03"))
def test_enough_is_free_for_a_rank_to_start(
    view: NodeViews, planned: Planned, deployment: Deployment, fits: Fits
) -> None:
    """When a rank looks for its share of the memory, that much is free on every node."""
    budget = planned()
    who = holders(view, budget, deployment.profile.tenant_gib * GIB)
    fits(
        budget,
        budget.starts,
        found=f"{gib(budget.free_at_start)} of {gib(budget.machine.device.total)} will be free; "
        f"now held by {', '.join(who) or 'nobody with much of it'}",
        expected=f"{gib(budget.needed_at_start)}, which a rank finds free or does not start"
        + (": end what holds it" if budget.idle.starts else "; more than this node has when nothing else runs"),
    )


@pytest.mark.check("MEM-04", stages=BEFORE_LAUNCH, needs=("MEM-03", "MOD-03"))
def test_share_holds_the_weights_and_a_step(planned: Planned, fits: Fits) -> None:
    """The share of each rank holds its weights and one step, so that something is left for the KV cache."""
    budget = planned()
    fits(
        budget,
        budget.kv_room > 0,
        found=f"{gib(budget.kv_room)} are left for the KV cache",
        expected="more than nothing",
    )


@pytest.mark.check("MEM-05", stages=BEFORE_LAUNCH, needs=("MEM-04",))
def test_kv_cache_holds_the_longest_request(planned: Planned, fits: Fits) -> None:
    """The KV cache of each rank holds one request of the greatest length."""
    budget = planned()
    tokens = budget.settings.max_model_len
    need, longest = budget.kv_need(tokens), budget.longest_context
    if need is None:
        pytest.skip("config.json does not tell layers and heads, so the need is not known")
    fits(
        budget,
        need <= budget.kv_room,
        found=f"max_model_len = {tokens} needs {need / GIB:.2f} GiB of {budget.kv_room / GIB:.2f}",
        expected=f"max_model_len of at most {longest}",
    )


@pytest.mark.check("MEM-08", stages=BEFORE_LAUNCH, needs=("MEM-02", "MEM-04"))
def test_headroom_stays_at_the_worst_moment(planned: Planned, deployment: Deployment, fits: Fits) -> None:
    """At the worst moment of the start every node still has the profile's headroom of free memory."""
    budget = planned()
    fits(
        budget,
        budget.low_water >= budget.reserves.headroom,
        found=f"{gib(budget.low_water)} will be left",
        expected=f"{deployment.profile.memory_headroom_gib:g} GiB ({deployment.profile.origin('memory_headroom_gib')})",
    )


@pytest.mark.check("MEM-01", stages=BEFORE_LAUNCH, needs=("MEM-02", "MEM-04"))
def test_peak_stays_below_rays_threshold(planned: Planned, fits: Fits) -> None:
    """At the worst moment no node uses so much memory that Ray's monitor, as declared, would kill a rank."""
    budget = planned()
    threshold = budget.settings.kill_threshold
    if threshold is None:
        pytest.skip("ray.memory_monitor is disabled, so Ray kills nothing")
    fits(
        budget,
        budget.peak_share < threshold,
        found=f"{budget.peak_share:.1%} of the memory will be in use",
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
        found=f"{gib(view.memory.free)} free, {gib(view.memory.available)} with page cache dropped",
        expected=f"{gib(budget.requested)} free before the load, which fills the page cache with "
        f"{gib(budget.page_cache)} of shards by itself",
    )


@pytest.mark.check("MEM-11", stages=("ray",), needs=("RAY-01", "MEM-08"))
def test_object_store_fits_beside_the_model(node: Node, head: NodeViews, planned: Planned, claim: Claim) -> None:
    """What Ray may take for its object store is still there when the model is loaded."""
    rows = [row for row in head.ray.cluster.alive if row.address == str(node.fabric_address)]
    store = max((row.resources.get("object_store_memory", 0.0) for row in rows), default=0.0)
    budget = planned()
    claim(
        store <= budget.low_water,
        found=f"object_store_memory = {gib(store)}, {gib(budget.low_water)} left at the worst moment",
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
    claim(
        tokens <= most,
        found=f"max_num_batched_tokens = {tokens}, by {budget.settings.known_from}",
        expected=f"at most {most} ({deployment.profile.origin('batched_tokens_max')})",
    )
