from __future__ import annotations

import pytest

from shakedown.load.percentiles import needed_samples
from shakedown.load.scenario import PROFILES, PerfProfile, scenario


@pytest.mark.parametrize("profile", ["short", "full"])
def test_scenarios_of_a_profile_have_one_shape_so_that_rates_compare(profile: PerfProfile) -> None:
    assert len({one.shape for one in PROFILES[profile]}) == 1


@pytest.mark.parametrize("profile", ["short", "full"])
def test_every_profile_can_tell_a_p90(profile: PerfProfile) -> None:
    assert min(one.requests for one in PROFILES[profile]) >= needed_samples(90)


def test_conditions_tell_profiles_apart() -> None:
    assert scenario("chat-c4", "short").conditions != scenario("chat-c4", "full").conditions
    assert scenario("chat-c4", "short").conditions == {
        "concurrency": "4",
        "requests": "32",
        "input tokens": "64",
        "output tokens": "16",
    }


def test_unknown_scenario_is_an_error() -> None:
    with pytest.raises(KeyError):
        scenario("chat-c5", "short")
