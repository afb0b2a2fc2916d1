"""How a verdict becomes an outcome of a test: what is claimed, what is skipped, what is shown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import pytest

from fixtures.baseline import AgainstRecord
from fixtures.claim import Claim
from selftests.verdict.test_judge import judge, measured
from shakedown.inventory.model import Slo
from shakedown.outcomes import Metric
from shakedown.verdict.judge import Measurement


@dataclass
class Test:
    """What a test would have seen."""

    user_properties: list[tuple[str, object]] = field(default_factory=list)
    claims: list[dict[str, Any]] = field(default_factory=list)
    shown: list[Metric] = field(default_factory=list)

    __test__ = False

    def claim(self, holds: bool, *, found: str, expected: str) -> None:
        self.claims.append({"holds": holds, "found": found, "expected": expected})


Hold = Callable[..., Test]


@pytest.fixture
def hold(tmp_path: Path) -> Hold:
    """Hold a measurement against the record under ``tmp_path``."""

    def run(measurement: Measurement, *, record: bool = False, slos: tuple[Slo, ...] = (), detail: str = "") -> Test:
        test = Test()
        against = AgainstRecord(
            cast(pytest.Item, test),
            judge(tmp_path, record=record, slos=slos),
            cast(Claim, test.claim),
            test.shown.append,
        )
        try:
            against(measurement, gated=("ttft_s.p50",), families=("ttft_s",), detail=detail)
        except pytest.skip.Exception as skipped:
            test.user_properties.append(("skipped", str(skipped)))
        return test

    return run


def test_no_record_skips_the_comparison_and_claims_nothing(hold: Hold) -> None:
    test = hold(measured(1.0))
    assert test.claims == []
    assert test.user_properties == [("skipped", "no baseline for chat-c1: record one with --record-baseline")]


def test_numbers_are_shown_even_without_a_record(hold: Hold) -> None:
    assert [metric.name for metric in hold(measured(1.0)).shown] == ["ttft_s.p50"]


def test_as_fast_as_recorded_is_a_claim_that_holds(hold: Hold) -> None:
    hold(measured(1.0), record=True)
    test = hold(measured(1.05))
    assert [claim["holds"] for claim in test.claims] == [True]
    assert test.user_properties == [("verdict", "PASS")]


def test_slower_than_recorded_is_a_claim_that_does_not_hold(hold: Hold) -> None:
    hold(measured(1.0), record=True)
    test = hold(measured(2.0), detail="weights 500 s")
    (claim,) = test.claims
    assert not claim["holds"]
    assert claim["found"] == (
        "chat-c1: ttft_s.p50 2 s: 100.0% slower than the median of 1 recorded run (weights 500 s)"
    )
    assert ("verdict", "FAIL") in test.user_properties


def test_between_the_two_is_skipped_with_both_numbers(hold: Hold) -> None:
    hold(measured(1.0), record=True)
    skipped = dict(hold(measured(1.3)).user_properties)
    assert skipped["verdict"] == "INCONCLUSIVE"
    assert str(skipped["skipped"]).startswith("INCONCLUSIVE: ttft_s.p50 1.3 s: 30.0% slower")


def test_invalid_run_is_skipped_with_its_reason_and_claims_nothing(hold: Hold) -> None:
    test = hold(replace(measured(1.0), invalid=("the client was busy",)))
    assert test.claims == []
    assert test.user_properties == [("verdict", "INVALID"), ("skipped", "INVALID: the client was busy")]


def test_limit_of_the_file_is_claimed_without_a_record(hold: Hold) -> None:
    slos = (Slo(scenario="chat-c1", metric="ttft_s.p50", max=0.5),)
    test = hold(measured(1.0), slos=slos)
    assert [claim["holds"] for claim in test.claims] == [False]
    assert "[[slo]]" in test.claims[0]["expected"]
