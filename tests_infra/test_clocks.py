"""The nodes' clocks, each measured against the clock of the machine that asks."""

from __future__ import annotations

from itertools import combinations

import pytest

from fixtures.claim import Claim
from shakedown.errors import EvidenceError
from shakedown.inventory.model import Deployment
from shakedown.nodes.views.node import NodeViews

pytestmark = pytest.mark.infra

ALWAYS = ("hosts", "ray", "serving")


@pytest.mark.check("PLT-07", stages=ALWAYS)
def test_clocks_agree(pair: dict[str, NodeViews], deployment: Deployment, claim: Claim) -> None:
    """The clocks of all nodes agree within the profile's limit, beyond what the measurement leaves open."""
    limit = deployment.profile.clock_skew_warn_s
    apart, found = _largest_skew(pair, limit)
    claim(
        apart <= limit, found=found, expected=f"at most {limit:g} s ({deployment.profile.origin('clock_skew_warn_s')})"
    )


@pytest.mark.check("PLT-07", stages=ALWAYS, severity="blocker")
def test_clocks_are_not_far_apart(pair: dict[str, NodeViews], deployment: Deployment, claim: Claim) -> None:
    """No two clocks are so far apart that Ray's health check would drop the answers of a healthy node."""
    limit = deployment.profile.clock_skew_fail_s
    apart, found = _largest_skew(pair, limit)
    claim(
        apart <= limit, found=found, expected=f"at most {limit:g} s ({deployment.profile.origin('clock_skew_fail_s')})"
    )


def _largest_skew(pair: dict[str, NodeViews], limit: float) -> tuple[float, str]:
    """Seconds that two clocks are apart for certain, and the measurement in words; of the pair that is worst.

    Raises:
        EvidenceError: an answer travelled so long that the limit cannot be judged.
    """
    measured = []
    for one, other in combinations(pair, 2):
        a, b = pair[one].platform.clock, pair[other].platform.clock
        difference, open_s = a.ahead_s - b.ahead_s, a.uncertainty_s + b.uncertainty_s
        if open_s > limit:
            raise EvidenceError(f"{one} and {other} answered too slowly: +- {open_s:.1f} s are open")
        words = f"{one} is {difference:+.3f} s (+- {open_s:.3f} s) against {other}"
        measured.append((max(0.0, abs(difference) - open_s), words))
    return max(measured)
