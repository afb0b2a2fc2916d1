"""Every formula, on streams whose true numbers are known because they were written by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from selftests.load.wire import FINISH, ROLE, SENT, answered, delta, steady, usage
from shakedown.load import metrics
from shakedown.load.engine import LoadRun
from shakedown.load.probe import ClientHealth
from shakedown.load.records import RequestRecord


def run_of(records: Sequence[RequestRecord], asked: int | None = None) -> LoadRun:
    ended = max((record.ended for record in records), default=SENT)
    return LoadRun(
        asked=len(records) if asked is None else asked,
        records=tuple(records),
        health=ClientHealth(lags=[0.001] * 400, cpu_s=0.5),
        started=SENT,
        ended=ended,
    )


def near(value: float) -> object:
    return pytest.approx(value, abs=1e-9)


def test_first_token_is_not_the_role() -> None:
    record = answered(steady(first=0.214, gap=0.01, n=4))
    assert metrics.ttft(record) == near(0.214)


def test_first_token_of_reasoning_counts_and_the_answer_is_told_apart() -> None:
    record = answered([(0.0, ROLE), (0.2, delta({"reasoning": "a"})), (0.9, delta({"content": "b"})), (0.9, FINISH)])
    assert metrics.ttft(record) == near(0.2)
    assert metrics.first_answer(record) == near(0.9)


def test_answer_that_never_came_has_no_time() -> None:
    record = answered([(0.2, delta({"reasoning": "a"})), (0.3, FINISH)])
    assert metrics.first_answer(record) is None


def test_time_per_token_is_over_the_gaps_and_not_the_first_token() -> None:
    assert metrics.tpot(answered(steady(first=5.0, gap=0.02, n=11))) == near(0.02)


def test_several_tokens_in_the_first_chunk_do_not_shorten_the_time_per_token() -> None:
    script = [(0.2, delta({"content": "abcd"}, so_far=4)), (0.3, delta({"content": "e"}, so_far=5)), (0.3, FINISH)]
    assert metrics.tpot(answered([*script, (0.3, usage(5))])) == near(0.1)


def test_tokens_without_text_at_the_end_do_not_shorten_the_time_per_token() -> None:
    script = [(0.2, delta({"content": "a"}, so_far=1)), (0.4, delta({"content": "b"}, so_far=2))]
    record = answered([*script, (0.9, delta({}, finish="length", so_far=6)), (0.9, usage(6))])
    assert metrics.tpot(record) == near(0.2)


def test_one_token_has_no_time_per_token() -> None:
    assert metrics.tpot(answered(steady(first=0.2, gap=0.01, n=1))) is None


def test_gaps_are_between_chunks_that_carry_tokens() -> None:
    script = [(0.1, delta({"content": "a"})), (0.2, delta({"content": ""})), (0.6, delta({"content": "b"}))]
    assert metrics.chunk_gaps(answered([*script, (0.7, FINISH)])) == [near(0.5)]


def test_longest_gap_shows_the_stall_that_a_median_hides() -> None:
    tokens = [(0.1 * n + (5.0 if n > 3 else 0.0), delta({"content": "a"})) for n in range(1, 9)]
    record = answered([*tokens, (5.8, FINISH)])
    assert metrics.longest_gap(record) == near(5.1)
    assert metrics.longest_gap(answered(steady(0.1, 0.1, 1))) is None


def test_end_to_end_stops_at_the_last_token() -> None:
    record = answered([*steady(0.2, 0.01, 3)[:-2], (5.0, usage(3))])
    assert metrics.e2e(record) == near(0.22)


def test_tokens_are_counted_by_usage_and_not_by_chunks() -> None:
    record = answered([(0.2, delta({"content": "a b c"})), (1.0, FINISH), (1.0, usage(10))])
    found = metrics.metrics_of(run_of([record]))
    assert found["output_tokens_per_s"].value == near(10.0)


def test_failed_requests_are_a_metric_of_their_own_and_no_sample() -> None:
    good = [answered(steady(0.2, 0.01, 5)) for _ in range(9)]
    bad = answered([(0.001, b"no")], http_status=503)
    found = metrics.metrics_of(run_of([*good, bad]))
    assert found["error_ratio"].value == near(0.1)
    assert found["ttft_s.p50"].samples == 9
    assert found["ttft_s.p50"].value == near(0.2)
    assert found["requests_per_s"].samples == 9


def test_error_ratio_is_over_requests_that_were_begun() -> None:
    good, bad = answered(steady(0.2, 0.01, 5)), answered([(0.1, b"no")], http_status=500)
    assert metrics.error_ratio(run_of([good, bad], asked=100)) == 0.5


def test_run_without_any_success_has_no_numbers_and_says_so() -> None:
    found = metrics.metrics_of(run_of([answered([(0.1, b"no")], http_status=500)] * 3))
    assert found["error_ratio"].value == 1.0
    for name in ("ttft_s.p50", "tpot_s.mean", "output_tokens_per_s"):
        assert found[name].value is None
        assert found[name].note


def test_percentile_of_too_few_requests_is_refused() -> None:
    found = metrics.metrics_of(run_of([answered(steady(0.2, 0.01, 5)) for _ in range(10)]))
    assert found["ttft_s.p50"].value == near(0.2)
    assert found["ttft_s.p90"].value is None
    assert found["ttft_s.p90"].note == "refused: 10 samples, 29 needed"


def test_two_streams_at_once_have_twice_the_rate_of_one() -> None:
    one = answered(steady(first=0.1, gap=0.1, n=20))
    single = metrics.metrics_of(run_of([one]))["output_tokens_per_s"].value
    double = metrics.metrics_of(run_of([one, replace(one, index=1)]))["output_tokens_per_s"].value
    assert single == near(10.0)
    assert double == near(20.0)


def test_peak_is_never_below_the_mean_where_every_token_was_seen() -> None:
    run = run_of([answered(steady(first=0.4, gap=0.013, n=200)), answered(steady(first=1.4, gap=0.031, n=50))])
    mean = metrics.metrics_of(run)["output_tokens_per_s"].value
    assert mean is not None
    assert metrics.peak_output_tokens_per_s(run) >= mean


def test_peak_falls_below_the_mean_where_chunks_hide_tokens() -> None:
    script = [(0.1 * n, delta({"content": "several words"})) for n in range(1, 11)]
    run = run_of([answered([*script, (1.0, FINISH), (1.0, usage(80))])])
    assert metrics.peak_output_tokens_per_s(run) < metrics.output_tokens(run) / metrics.duration(run)


def test_tokens_of_a_chunk_are_the_growth_of_the_running_count() -> None:
    script = [(0.1, delta({"content": "a"}, so_far=2)), (0.2, delta({"content": "b"}, so_far=5))]
    record = answered([*script, (0.3, delta({}, finish="length", so_far=6)), (0.3, usage(6))])
    assert [tokens for _, tokens in metrics.token_arrivals(record)] == [2, 3, 1]


def test_every_metric_has_a_unit() -> None:
    found = metrics.metrics_of(run_of([answered(steady(0.2, 0.01, 5))] * 5))
    assert {metric.unit for metric in found.values()} == {"s", "tokens/s", "requests/s", "requests", "ratio"}
    assert found["output_tokens_per_s"].better == "higher"
    assert found["ttft_s.p50"].better == "lower"
