"""Simulators that several tests share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from shakedown.simulator.run import Running, running_simulator


@pytest.fixture(scope="session")
def fast() -> Iterator[Running]:
    """A healthy one that answers at once."""
    with running_simulator(ttft_s=0.0, itl_s=0.0) as simulator:
        yield simulator


@pytest.fixture
def slow() -> Iterator[Running]:
    """A healthy one whose answers take seconds; not shared, since its counters are looked at."""
    with running_simulator(ttft_s=0.05, itl_s=0.2) as simulator:
        yield simulator
