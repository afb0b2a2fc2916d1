"""A run that measured something else than the server is told from one that did not; every rule can say no."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from selftests.load.test_metrics import run_of
from selftests.load.wire import FINISH, answered, delta, steady, usage
from shakedown.load.engine import LoadRun
from shakedown.load.metrics import metrics_of
from shakedown.load.records import RequestRecord, Status
from shakedown.load.workload import Shape
from shakedown.verdict.validity import why_invalid

SHAPE = Shape(input_tokens=7, output_tokens=5)
GOOD = answered(steady(first=0.2, gap=0.02, n=5))


def reasons(run: LoadRun, *, shape: Shape = SHAPE, roofline: float | None = None) -> list[str]:
    return why_invalid(run, metrics_of(run), shape, roofline=roofline)


def of(records: Sequence[RequestRecord], asked: int | None = None) -> LoadRun:
    return run_of([*[GOOD] * 6, *records], asked)


def lagging(seconds: float) -> LoadRun:
    run = of([])
    return replace(run, health=replace(run.health, lags=[seconds] * 400))


def test_healthy_run_is_valid() -> None:
    assert reasons(of([])) == []
    assert reasons(of([]), roofline=60.0) == []


HIDDEN = answered([(0.2, delta({"content": "many words"})), (0.22, FINISH), (0.22, usage(5))])
NO_USAGE = replace(GOOD, usage=None)
SILENT = answered([(0.3, FINISH), (0.3, usage(5))])
BEFORE = replace(GOOD, sent=GOOD.ended + 1)


@pytest.mark.parametrize(
    ("run", "because"),
    [
        pytest.param(of([], asked=9), "6 of 9 requests had ended", id="never-begun"),
        pytest.param(of([replace(GOOD, status=Status.CANCELLED)]), "6 of 7 requests", id="cut-off"),
        pytest.param(of([answered([(0.1, b"no")], http_status=503)]), "1 of 7 requests failed (PF-01)", id="failed"),
        pytest.param(of([answered(steady(0.2, 0.02, 3))]), "3 to 3 completion tokens, 5 were", id="stopped-early"),
        pytest.param(of([NO_USAGE]), "1 of 7 answers carried no usage", id="no-usage"),
        pytest.param(of([BEFORE]), "before their request was sent", id="first-token-before-sending"),
        pytest.param(run_of([HIDDEN] * 5), "lies below the mean", id="chunks-hide-tokens"),
        pytest.param(lagging(0.021), "21.0 ms late in the mean while", id="busy-client"),
        pytest.param(replace(of([]), health=replace(of([]).health, lags=[])), "did not watch", id="unwatched"),
    ],
)
def test_each_rule_says_what_it_found(run: LoadRun, because: str) -> None:
    (reason,) = reasons(run)
    assert because in reason


def test_answer_without_any_token_is_no_sample() -> None:
    assert any("1 of 7 answers carried no token at all" in reason for reason in reasons(of([SILENT])))


def test_prompts_of_another_length_are_another_load() -> None:
    (reason,) = reasons(of([]), shape=Shape(8, 5))
    assert "7 to 7 prompt tokens, 8 were asked for" in reason


def test_rate_above_what_the_hardware_can_do_means_that_the_client_is_wrong() -> None:
    (reason,) = reasons(of([]), roofline=40.0)
    assert "decoded 50 tokens/s; the hardware cannot do more than 40" in reason


def test_single_hiccup_of_the_client_is_borne_and_a_habit_is_not() -> None:
    run = of([])
    assert reasons(replace(run, health=replace(run.health, lags=[0.0] * 199 + [0.3]))) == []
    assert len(reasons(replace(run, health=replace(run.health, lags=[0.0] * 90 + [0.3] * 10)))) == 1
    assert len(reasons(replace(run, health=replace(run.health, lags=[0.0] * 9 + [0.3])))) == 1


def test_lag_that_is_small_beside_what_is_measured_is_borne() -> None:
    assert reasons(lagging(0.0039)) == []
