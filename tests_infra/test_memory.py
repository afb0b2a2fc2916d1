"""Memory: what would kill the ranks, who else holds it, and what they are allowed; see also `test_budget.py`."""

from __future__ import annotations

import pytest

from fixtures.claim import Claim
from shakedown.inventory.model import Deployment, Node
from shakedown.nodes.views.memory import OURS
from shakedown.nodes.views.node import NodeViews
from shakedown.nodes.views.ray_settings import MONITOR_VARIABLES, monitor_setting, same_threshold
from shakedown.units import GIB, gib

pytestmark = pytest.mark.infra

ALWAYS = ("hosts", "ray", "serving")
BEFORE_LAUNCH = ("hosts", "ray")
CLUSTER = ("ray", "serving")

ASYMMETRY_GIB = 3.0
"""Difference between equal machines that is no chance; a leak of 33 GiB was seen. The limit is ours."""


@pytest.mark.check("MEM-01", stages=CLUSTER, needs=("RAY-03",))
def test_raylet_environment_sets_the_monitor_as_declared(view: NodeViews, deployment: Deployment, claim: Claim) -> None:
    """Every raylet's own environment sets Ray's memory monitor as the deployment file declares."""
    variables = view.ray.environment
    claim(
        same_threshold(monitor_setting(variables), _declared(deployment)),
        found=", ".join(f"{name}={variables.get(name, 'not set')}" for name in MONITOR_VARIABLES),
        expected=f"memory_monitor = {deployment.ray.memory_monitor!r} of the deployment file",
    )


@pytest.mark.check("MEM-01", stages=CLUSTER, needs=("RAY-03",))
def test_raylet_says_the_monitor_is_as_declared(view: NodeViews, deployment: Deployment, claim: Claim) -> None:
    """Every raylet's own log says that the memory monitor is as the deployment file declares."""
    monitor = view.ray.monitor
    claim(
        same_threshold(monitor.threshold, _declared(deployment)),
        found=f"raylet.out: {monitor.line}",
        expected=f"memory_monitor = {deployment.ray.memory_monitor!r} of the deployment file",
    )


@pytest.mark.check("MEM-01", stages=CLUSTER, needs=("RAY-03",))
def test_raylet_log_and_environment_agree(view: NodeViews, claim: Claim) -> None:
    """What a raylet says about its memory monitor is what its environment asked for."""
    asked, said = monitor_setting(view.ray.environment), view.ray.monitor
    claim(
        same_threshold(asked, said.threshold),
        found=f"environment: {_words(asked)}; raylet.out: {said.line}",
        expected="one and the same; where they differ, the log is right and something else than the environment set it",
    )


@pytest.mark.check("MEM-09", stages=BEFORE_LAUNCH, needs=("PLT-02",))
def test_no_earlier_rank_holds_a_gpu(view: NodeViews, claim: Claim) -> None:
    """Before the model is launched no process of an engine computes on a GPU of any node."""
    _needs_gpu(view)
    left = [process for process in view.gpu.processes if OURS.search(process.name)]
    claim(not left, found=", ".join(map(str, left)), expected="no process of Ray, vLLM or Python on a GPU")


@pytest.mark.check("MEM-09", stages=BEFORE_LAUNCH, severity="warning")
def test_no_memory_is_lost_on_one_node(pair: dict[str, NodeViews], claim: Claim) -> None:
    """Memory that no process holds and that is not available is about the same on all nodes."""
    lost = {name: view.memory.unexplained for name, view in pair.items()}
    claim(
        max(lost.values()) - min(lost.values()) <= ASYMMETRY_GIB * GIB,
        found=", ".join(f"{name} {gib(amount)}" for name, amount in lost.items()) + " held by nobody",
        expected=f"at most {ASYMMETRY_GIB:g} GiB apart; more was left behind by a driver after a crash",
    )


@pytest.mark.check("MEM-10", stages=BEFORE_LAUNCH, needs=("PLT-02",))
def test_nobody_else_holds_much_memory(view: NodeViews, deployment: Deployment, claim: Claim) -> None:
    """Before the model is launched no program but Ray itself holds much memory of any node or of its GPU."""
    least = deployment.profile.tenant_gib * GIB
    computing = {process.pid for process in view.gpu.processes if OURS.search(process.name)}  # MEM-09 tells of them
    resident = [process for process in view.memory.strangers(least) if process.pid not in computing]
    known = computing | {process.pid for process in resident}
    large = [*resident, *(one for one in view.gpu.processes if (one.memory or 0) >= least and one.pid not in known)]
    claim(
        not large,
        found=", ".join(map(str, large)),
        expected=f"no other process with {deployment.profile.tenant_gib:g} GiB "
        f"({deployment.profile.origin('tenant_gib')})",
    )


@pytest.mark.check("MEM-12", stages=ALWAYS)
def test_shared_memory_is_large_enough(view: NodeViews, deployment: Deployment, claim: Claim) -> None:
    """Where Ray and the engine run, ``/dev/shm`` has room for NCCL's segments and Ray's object store."""
    least, shared = deployment.profile.shm_gib, view.limits.shared
    claim(
        shared.size >= least * GIB,
        found=f"/dev/shm of {shared.size / GIB:.2f} GiB, {shared.available / GIB:.2f} free",
        expected=f"at least {least:g} GiB ({deployment.profile.origin('shm_gib')})",
    )


@pytest.mark.check("MEM-13", stages=ALWAYS)
def test_memory_may_be_locked(view: NodeViews, node: Node, claim: Claim) -> None:
    """Where RDMA is declared, the raylet, or before there is one a new process, may lock as much memory as there is."""
    if not node.hcas:
        pytest.skip("no RDMA device is declared (node.hcas), so nothing has to be locked")
    locked = view.limits.locked
    raylets = {f"raylet {number}": amount for number, amount in enumerate(locked.raylets)}
    tight = {
        who: amount
        for who, amount in (raylets or {"a new process": locked.new}).items()
        if amount is not None and amount < view.memory.total
    }
    claim(
        not tight,
        found=", ".join(f"{who}: {amount} bytes, and no capability IPC_LOCK" for who, amount in tight.items()),
        expected="unlimited, or the capability",
    )


@pytest.mark.check("MEM-16", stages=ALWAYS)
def test_no_cgroup_takes_memory_away(view: NodeViews, deployment: Deployment, claim: Claim) -> None:
    """No cgroup gives Ray and the engine less memory than the machine has."""
    if deployment.label:
        pytest.skip("these nodes live in the cgroup of the machine that made them")
    limit, total = view.limits.cgroup, view.memory.total
    claim(
        limit is None or limit >= total,
        found=f"a limit of {gib(limit or 0)}, from which Ray computes its threshold",
        expected=f"no limit below {gib(total)}, the machine's memory",
    )


@pytest.mark.check("PLT-10", stages=BEFORE_LAUNCH)
def test_swap_is_not_in_use(view: NodeViews, deployment: Deployment, claim: Claim) -> None:
    """Before the model is launched no node has paged much out."""
    swap, most = view.memory.swap, deployment.profile.swap_used_gib
    claim(
        swap.used <= most * GIB,
        found=f"{gib(swap.used)} of {gib(swap.size)} of swap in use",
        expected=f"at most {most:g} GiB ({deployment.profile.origin('swap_used_gib')})",
    )


def _needs_gpu(view: NodeViews) -> None:
    if not view.gpu.installed:
        pytest.skip("this node has no nvidia-smi")


def _declared(deployment: Deployment) -> float | None:
    monitor = deployment.ray.memory_monitor
    return None if monitor == "disabled" else monitor


def _words(threshold: float | None) -> str:
    return "disabled" if threshold is None else f"kills at {threshold:g} of the memory"
