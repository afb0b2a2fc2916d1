"""The instrument measures what is known: a simulator with exact times, in a process of its own.

Lower bounds are strict: a time below the truth can only come from a wrong stamp. Upper bounds leave room for a busy
machine, and are for medians.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator

import numpy as np
import pytest

from shakedown.load import metrics
from shakedown.load.engine import ClosedLoop, LoadRun, run_load
from shakedown.load.records import TOKEN, RequestRecord
from shakedown.load.target import Target, engine_version
from shakedown.load.workload import Shape, compose
from shakedown.simulator.run import Running, running_simulator
from shakedown.verdict.validity import why_invalid

SHAPE = Shape(input_tokens=48, output_tokens=24)
REQUESTS = 12
LATE_S = 0.008
GRAIN_S = 0.0002
"""The simulator's own timer may fire this much early."""


def slack(run: LoadRun) -> float:
    """What a median may be late by: more where this machine wakes sleepers late, as the client itself has seen; the
    server sleeps, too, and works before it does."""
    return LATE_S + 3 * float(np.percentile(run.health.lags, 95))


def measured(simulator: Running, concurrency: int = 2) -> LoadRun:
    target = Target(simulator.base_url, "shakedown-tiny")
    bodies = compose(target, SHAPE, REQUESTS, seed=20)
    return run_load(target, bodies, ClosedLoop(concurrency))


def tokens_before_the_first_seen(record: RequestRecord) -> int:
    """The opening tag of the reasoning is a token that nobody gets to see: the first arrival is a later one."""
    first = next(arrival for arrival in record.arrivals if arrival.has_token)
    assert first.tokens_so_far is not None
    return first.tokens_so_far - 1


@pytest.mark.parametrize(
    ("ttft_s", "itl_s"),
    [pytest.param(0.2, 0.005, id="late-first-token-fast-decode"), pytest.param(0.02, 0.02, id="the-other-way-round")],
)
def test_known_times_are_measured(ttft_s: float, itl_s: float) -> None:
    with running_simulator(ttft_s=ttft_s, itl_s=itl_s) as simulator:
        run = measured(simulator)
    late = []
    for record in run.records:
        found = metrics.ttft(record)
        assert found is not None
        late.append(found - (ttft_s + itl_s * tokens_before_the_first_seen(record)))
    assert min(late) >= -GRAIN_S
    assert statistics.median(late) <= slack(run)
    tpots = [value for record in run.records if (value := metrics.tpot(record)) is not None]
    assert statistics.median(tpots) == pytest.approx(itl_s, abs=0.001)
    gaps = [gap for record in run.records for gap in metrics.chunk_gaps(record)]
    assert statistics.median(gaps) == pytest.approx(itl_s, abs=0.001)


@pytest.fixture(scope="module")
def simulator() -> Iterator[Running]:
    with running_simulator() as running:
        yield running


def reasons(run: LoadRun) -> list[str]:
    """Why the run is invalid, but for a machine that others keep busy."""
    return [reason for reason in why_invalid(run, metrics.metrics_of(run), SHAPE) if "was busy" not in reason]


def test_lengths_are_exact_and_prompts_fresh(simulator: Running) -> None:
    run = measured(simulator)
    assert reasons(run) == []
    assert {(r.usage.prompt_tokens, r.usage.completion_tokens) for r in run.records if r.usage} == {(48, 24)}
    assert {record.finish_reasons for record in run.records} == {("length",)}


def test_version_of_the_engine_is_asked(simulator: Running) -> None:
    assert engine_version(Target(simulator.base_url, "shakedown-tiny")) == "0.32.0"


def test_role_at_once_is_no_first_token(simulator: Running) -> None:
    for record in measured(simulator).records:
        assert record.sent is not None
        assert record.first_byte is not None
        first = record.first(TOKEN)
        assert first is not None
        assert first - record.sent >= 0.03
        assert record.arrivals[0].at < first


def test_empty_chunk_at_once_is_no_first_token() -> None:
    with running_simulator(fault="early-empty-chunk") as simulator:
        run = measured(simulator)
    found = metrics.metrics_of(run)["ttft_s.p50"].value
    assert found is not None
    assert 0.03 <= found <= 0.03 + 0.002 + slack(run)


def test_tokens_that_arrive_together_do_not_bend_the_time_per_token() -> None:
    with running_simulator(ttft_s=0.03, itl_s=0.01, tokens_per_chunk=4) as simulator:
        run = measured(simulator)
    found = metrics.metrics_of(run)
    assert found["tpot_s.p50"].value == pytest.approx(0.01, rel=0.1)
    assert found["chunk_gap_s.p50"].value == pytest.approx(0.04, rel=0.1)
    assert reasons(run) == []


def test_waiting_for_a_place_is_part_of_the_first_token() -> None:
    with running_simulator(ttft_s=0.05, itl_s=0.002, max_concurrency=1) as simulator:
        run = measured(simulator, concurrency=2)
    values = [value for record in run.records if (value := metrics.ttft(record)) is not None]
    assert statistics.median(values) >= 0.05 + 0.05


def test_errors_under_load_are_counted_over_requests_sent() -> None:
    with running_simulator(fault="errors-under-load") as simulator:
        run = measured(simulator, concurrency=4)
    found = metrics.metrics_of(run)
    wrong = [record for record in run.records if record.why]
    assert wrong
    assert {record.http_status for record in run.records} == {200}
    assert all("EngineCore encountered an issue" in record.why for record in wrong)
    assert found["error_ratio"].value == len(wrong) / REQUESTS
    assert found["ttft_s.p50"].samples == REQUESTS - len(wrong)


def test_stall_is_seen_where_medians_hide_it() -> None:
    with running_simulator(fault="stall-under-concurrency") as simulator:
        run = measured(simulator, concurrency=4)
    found = metrics.metrics_of(run)
    longest, gap = found["longest_gap_s.p50"].value, found["chunk_gap_s.p50"].value
    assert longest is not None
    assert longest >= 0.5 - slack(run)  # the token before it may itself have been late
    assert gap == pytest.approx(0.002, abs=0.001)
