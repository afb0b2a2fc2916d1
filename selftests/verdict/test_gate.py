"""Which verdict a run gets, and what the sentence beside it says."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shakedown.outcomes import Metric
from shakedown.verdict.gate import Judgement, Verdict, against_limit, against_record, value_text

SETTLED = [1.0, 1.01, 0.99] * 5


def ttft(value: float | None, note: str = "") -> Metric:
    return Metric("ttft_s.p50", value, "s", "lower", 30, note)


def rate(value: float) -> Metric:
    return Metric("output_tokens_per_s", value, "tokens/s", "higher", 30)


@pytest.mark.parametrize(
    ("value", "history", "verdict"),
    [
        pytest.param(1.0, [1.0], Verdict.PASS, id="equal"),
        pytest.param(0.1, [1.0], Verdict.PASS, id="faster"),
        pytest.param(1.19, [1.0], Verdict.PASS, id="within-the-effect"),
        pytest.param(1.3, [1.0], Verdict.INCONCLUSIVE, id="beyond-the-effect-within-the-noise-of-one-run"),
        pytest.param(1.5, [1.0], Verdict.FAIL, id="beyond-both"),
        pytest.param(1.06, SETTLED, Verdict.FAIL, id="settled-record-is-strict"),
        pytest.param(1.04, SETTLED, Verdict.PASS, id="settled-record-has-an-effect-too"),
        pytest.param(1.5, [*SETTLED, 1.6], Verdict.INCONCLUSIVE, id="a-recorded-run-was-as-slow"),
        pytest.param(None, [1.0], Verdict.INCONCLUSIVE, id="refused-percentile"),
        pytest.param(0.0, [1.0], Verdict.INCONCLUSIVE, id="zero-is-no-time"),
        pytest.param(1.0, [0.0], Verdict.INVALID, id="record-that-cannot-be"),
    ],
)
def test_times_against_their_record(value: float | None, history: list[float], verdict: Verdict) -> None:
    assert against_record(ttft(value), history).verdict is verdict


@pytest.mark.parametrize(
    ("value", "verdict"), [(100.0, Verdict.PASS), (75.0, Verdict.INCONCLUSIVE), (60.0, Verdict.FAIL)]
)
def test_rates_are_worse_when_lower(value: float, verdict: Verdict) -> None:
    assert against_record(rate(value), [100.0]).verdict is verdict


def test_sentence_says_how_much_against_what_and_how_sure() -> None:
    judgement = against_record(ttft(1.5), [1.0])
    assert judgement.found == "ttft_s.p50 1.5 s: 50.0% slower than the median of 1 recorded run"
    assert judgement.expected == "1 s and at most 20% slower; a failure from 39% on, a provisional limit"


def test_metric_without_a_direction_is_never_gated() -> None:
    with pytest.raises(ValueError, match="direction"):
        against_record(Metric("requests", 3, "ratio"), [3.0])


@given(st.floats(0.01, 100), st.lists(st.floats(0.5, 2), min_size=1, max_size=30))
def test_identical_data_never_fails(scale: float, history: list[float]) -> None:
    for value in history:
        scaled = [scale * each for each in history]
        assert against_record(ttft(scale * value), scaled).verdict is not Verdict.FAIL


@given(st.lists(st.floats(0.5, 2), min_size=1, max_size=30), st.floats(0.1, 50), st.floats(0, 50))
def test_slower_is_never_judged_better(history: list[float], value: float, more: float) -> None:
    order = [Verdict.PASS, Verdict.INCONCLUSIVE, Verdict.FAIL]
    first, second = (against_record(ttft(each), history).verdict for each in (value, value + more))
    assert order.index(first) <= order.index(second)


@pytest.mark.parametrize(
    ("value", "highest", "lowest", "verdict"),
    [
        (1.0, 1.0, None, Verdict.PASS),
        (1.01, 1.0, None, Verdict.FAIL),
        (0.9, None, 1.0, Verdict.FAIL),
        (1.5, 2.0, 1.0, Verdict.PASS),
        (None, 2.0, None, Verdict.INCONCLUSIVE),
    ],
)
def test_limits_of_the_file_need_no_record(
    value: float | None, highest: float | None, lowest: float | None, verdict: Verdict
) -> None:
    judgement: Judgement = against_limit(ttft(value, "refused"), highest=highest, lowest=lowest)
    assert judgement.verdict is verdict
    assert "[[slo]]" in judgement.expected


@pytest.mark.parametrize(
    ("metric", "text"),
    [
        (ttft(0.0314), "31.4 ms"),
        (ttft(1.25), "1.25 s"),
        (ttft(None), "no value"),
        (rate(92.13), "92.13 tokens/s"),
        (Metric("error_ratio", 0.0, "ratio"), "0 ratio"),
    ],
)
def test_numbers_are_told_with_their_unit(metric: Metric, text: str) -> None:
    assert value_text(metric) == text
