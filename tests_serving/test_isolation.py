"""CI: requests that run side by side do not see each other."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fixtures.claim import Claim
from shakedown.outcomes import Metric
from shakedown.serving.answer import Answer
from shakedown.serving.gates import upper_bound_of_zero
from shakedown.serving.judges.isolation import own_nonce_only, repeats_own

pytestmark = pytest.mark.serving


@pytest.mark.check("CI-01", stages=("serving",), needs=("PR-12",))
def test_nobody_gets_what_another_sent(
    nonces: tuple[Answer, ...], claim: Claim, measured: Callable[[Metric], None]
) -> None:
    """Of many requests in flight at once, none receives the nonce of another in any field."""
    verdict = own_nonce_only(nonces)
    own = sum(map(repeats_own, nonces)) / max(1, len(nonces))
    measured(Metric("own_nonces", own, "ratio", "higher", samples=len(nonces)))
    if verdict.holds:
        note = f"upper limit of the true rate (95 %): {upper_bound_of_zero(verdict.judged):.3f}"
        measured(Metric("foreign_nonces", 0.0, "ratio", "lower", samples=verdict.judged, note=note))
    claim(verdict.holds, found=verdict.found, expected="its own nonce, or none")
