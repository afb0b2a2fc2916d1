"""PF-01: under load every request is answered. Everything else that is measured needs that."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from fixtures.claim import Claim
from fixtures.load import Loads
from shakedown.errors import ServerError
from shakedown.outcomes import Metric
from shakedown.verdict.gate import value_text

pytestmark = pytest.mark.perf

FEW = 3


@pytest.mark.check("PF-01", stages=("serving",))
@pytest.mark.parametrize("scenario", ["chat-c1", "chat-c4"])
def test_every_request_is_answered(
    scenario: str,
    loads: Loads,
    claim: Claim,
    measured: Callable[[Metric], None],
    benchmark: BenchmarkFixture,
) -> None:
    """One request at a time and four at once, every request ends with a finish reason and without an error."""
    try:
        load = benchmark.pedantic(loads.measure, args=(scenario,), rounds=1)  # type: ignore[no-untyped-call]
    except ServerError as error:
        raise claim.finding(found=f"{scenario}: no load could be made: {error}", expected="a server to load") from error
    asked, ok = load.metrics["requests_asked"], load.metrics["requests_ok"]
    measured(load.metrics["error_ratio"])
    measured(ok)
    claim(
        ok.value == asked.value,
        found=f"{scenario}: {value_text(ok)} of {value_text(asked)} ended well; {'; '.join(load.troubles[:FEW])}",
        expected="all of them",
    )
