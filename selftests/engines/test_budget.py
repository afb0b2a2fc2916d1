"""The memory budget of a node: the arithmetic of a known case, and that nothing gets better by asking for more."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selftests.proofs.bundle_memory import HYBRID
from shakedown.engines.vllm.account import table
from shakedown.engines.vllm.budget import Budget, Machine, Pool, Reserves, Settings
from shakedown.engines.vllm.model_shape import ModelShape, shape_of
from shakedown.units import GIB


def shape(config: dict[str, object] | None = None) -> ModelShape:
    found = shape_of(HYBRID if config is None else config)
    assert found is not None
    return found


def spark(utilization: float = 0.8, available_gib: float = 113.0, **settings: object) -> Budget:
    """A node of two with 121.7 GiB of shared memory that serves 119 GB of weights."""
    pool = Pool(total=int(121.7 * GIB), available=int(available_gib * GIB))
    asked = Settings(
        utilization=utilization,
        kv_cache_bytes=None,
        tensor_parallel=2,
        pipeline_parallel=1,
        ranks=1,
        max_model_len=65536,
        max_num_seqs=16,
        max_num_batched_tokens=8192,
        kv_dtype="auto",
        graphs=True,
        kill_threshold=None,
        known_from="[launch].serve",
    )
    return Budget(
        machine=Machine("unified", pool, pool),
        settings=replace(asked, **settings),  # type: ignore[arg-type]
        reserves=Reserves(rank=3 * GIB, graphs=GIB, system=4 * GIB, headroom=8 * GIB),
        weights=119 * 10**9,
        shape=shape(),
    )


def test_the_known_pair_fits_at_four_fifths_and_not_at_nine_tenths() -> None:
    good, greedy = spark(0.80), spark(0.92)
    assert good.starts
    assert good.serves
    assert good.low_water == pytest.approx((113 - 3 - 0.8 * 121.7 - 1) * GIB, rel=1e-6)
    assert good.low_water >= good.reserves.headroom
    assert not greedy.starts
    assert greedy.low_water < 0 < greedy.peak_share - 1


def test_the_utilisation_that_would_fit_fits_and_the_next_one_does_not() -> None:
    fitting = spark(0.92).fitting_utilization
    assert fitting is not None
    assert spark(fitting).low_water >= 8 * GIB
    assert spark(fitting + 0.01).low_water < 8 * GIB


def test_weights_alone_may_be_too_much() -> None:
    cramped = spark(0.4)
    assert cramped.kv_room < 0
    assert cramped.longest_context == 0
    assert "would fit: gpu_memory_utilization = 0.8" in table(cramped)
    assert "would fit: nothing" in table(spark(0.4, max_model_len=10**9))


def test_what_others_hold_is_the_advice_where_an_idle_node_would_do() -> None:
    taken = spark(available_gib=40)
    assert not taken.starts
    assert taken.idle.fits
    assert table(taken).endswith("would fit: as it is if nothing else ran on this node: others hold 77.7 GiB")
    greedy = spark(0.92, available_gib=40)
    assert "would fit: gpu_memory_utilization = 0.8" in table(greedy)
    assert "if nothing else ran on this node" in table(greedy)


def test_what_fits_leaves_enough_for_rays_monitor_too() -> None:
    watched = spark(0.82, kill_threshold=0.85)
    assert watched.starts
    assert not watched.fits
    fitting = watched.fitting_utilization
    assert fitting is not None
    assert spark(fitting).peak_share < 0.85


def test_the_largest_cache_that_fits_fits_and_a_larger_one_does_not() -> None:
    much = spark(kv_cache_bytes=1024 * GIB)
    assert not much.starts
    size = much.fitting_cache
    assert size is not None
    assert f"would fit: kv_cache_memory_gib = {size / GIB:.2f}" in table(much)
    assert spark(kv_cache_bytes=size).fits
    assert not spark(kv_cache_bytes=size + GIB // 50).fits


def test_nodes_are_alike_if_only_their_free_memory_differs_a_little() -> None:
    assert spark(available_gib=113).is_like(spark(available_gib=113.3), GIB / 2)
    assert not spark(available_gib=113).is_like(spark(available_gib=110), GIB / 2)
    assert not spark(0.8).is_like(spark(0.7), GIB / 2)


def test_the_longest_context_is_the_longest() -> None:
    budget = spark(0.6, max_model_len=10_000_000)
    longest = budget.longest_context
    assert longest is not None
    assert 0 < longest < 10_000_000
    assert (budget.kv_need(longest) or 0) <= budget.kv_room < (budget.kv_need(longest + 16) or 0)


def test_a_given_size_of_the_cache_is_taken_and_a_gpus_share_is_looked_for_all_the_same() -> None:
    given_size = spark(0.99, kv_cache_bytes=GIB)
    assert given_size.kv_room == GIB
    assert given_size.requested == spark(0.1, kv_cache_bytes=GIB).requested
    assert not given_size.starts
    on_cpu = replace(given_size, machine=replace(given_size.machine, kind="none"))
    assert on_cpu.starts


def test_memory_of_its_own_leaves_the_machines_alone() -> None:
    shared = spark(0.9)
    device = Pool(total=80 * GIB, available=79 * GIB)
    own = replace(shared, machine=Machine("discrete", shared.machine.host, device))
    assert own.low_water == own.machine.host.available - 3 * GIB
    assert own.requested == pytest.approx(72 * GIB, abs=1)
    assert own.starts


def test_an_unknown_shape_needs_nothing_that_could_be_wrong() -> None:
    unknown = replace(spark(), shape=None)
    assert unknown.kv_need(65536) is None
    assert unknown.longest_context is None
    assert unknown.serves
    assert "need unknown" in table(unknown)


UTILIZATIONS = st.floats(0.05, 1.0)
TOKENS = st.integers(1, 1_000_000)


@given(UTILIZATIONS, UTILIZATIONS)
def test_a_higher_share_leaves_less(one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert spark(low).low_water >= spark(high).low_water
    assert spark(low).kv_room <= spark(high).kv_room


@given(st.floats(1, 121), st.floats(1, 121))
def test_more_memory_leaves_more(one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert spark(available_gib=low).low_water <= spark(available_gib=high).low_water
    assert spark(available_gib=low).free_at_start <= spark(available_gib=high).free_at_start


@given(st.integers(0, 10**12), st.integers(0, 10**12))
def test_heavier_weights_leave_less(one: int, other: int) -> None:
    low, high = sorted((one, other))
    light, heavy = replace(spark(), weights=low), replace(spark(), weights=high)
    assert light.low_water >= heavy.low_water
    assert light.kv_room >= heavy.kv_room
    assert (light.longest_context or 0) >= (heavy.longest_context or 0)


@given(TOKENS, TOKENS)
def test_a_longer_request_and_a_larger_step_take_more(one: int, other: int) -> None:
    low, high = sorted((one, other))
    assert (spark().kv_need(low) or 0) <= (spark().kv_need(high) or 0)
    assert spark(max_num_batched_tokens=low).kv_room >= spark(max_num_batched_tokens=high).kv_room
    assert spark(max_num_seqs=low).kv_room >= spark(max_num_seqs=high).kv_room


@given(UTILIZATIONS, st.floats(1, 121), st.integers(0, 10**12))
def test_the_worst_moment_is_the_worst(utilization: float, available: float, weights: int) -> None:
    budget = replace(spark(utilization, available), weights=weights)
    assert all(left >= budget.low_water for _, left in budget.phases)
    assert budget.phases[0][1] >= budget.low_water
