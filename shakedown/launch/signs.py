"""Signs of life of one node, from its counters: what moved, how fast, and when it last did."""

from __future__ import annotations

from collections.abc import Iterable

from shakedown.launch.events import Counter, Sampled
from shakedown.launch.limits import Limits

CARRIED = (Counter.READ, Counter.AVAILABLE, Counter.FABRIC, Counter.RDMA)
"""Counters that move where weights do."""


class Signs:
    """What the counters of one node have shown.

    A counter moves where its rate between two samples is above a floor, so that what drips all the time (health
    checks, a heartbeat's line) never adds up to a sign of life.
    """

    def __init__(self, limits: Limits) -> None:
        self._floors = {
            Counter.READ: limits.reading_bytes_per_s,
            Counter.FABRIC: limits.fabric_bytes_per_s,
            Counter.RDMA: limits.fabric_bytes_per_s,
            Counter.CPU: limits.processors,
        }
        self._memory_step = limits.memory_bytes
        self._last: dict[Counter, tuple[float, float]] = {}
        self._marked = float("inf")
        self._first: dict[Counter, float] = {}
        self.moved: dict[Counter, float] = {}
        self.rates: dict[Counter, float] = {}
        self.grown: dict[Counter, float] = {}
        self.available: float | None = None
        self.lowest: float | None = None

    def saw(self, sample: Sampled) -> None:
        """Take in what was read; a counter that fell (its process ended) begins anew."""
        for counter, value in sample.values.items():
            if counter is Counter.AVAILABLE:
                self._saw_available(value, sample.at)
            else:
                self._saw_growth(counter, value, sample.at)

    def begin(self) -> None:
        """A new start: lowest memory and growth are counted from here on."""
        self.lowest, self.grown = self.available, {}
        self._marked = self.available if self.available is not None else float("inf")

    def last(self, counters: Iterable[Counter]) -> float | None:
        """When any of these last moved; None where none ever did."""
        return max((self.moved[counter] for counter in counters if counter in self.moved), default=None)

    def seen_at(self, counter: Counter) -> float | None:
        """When it was last read, moved or not; None where it never could be."""
        return self._last[counter][1] if counter in self._last else None

    def first_seen_at(self, counter: Counter) -> float | None:
        """When it was read first, so that growth is counted from there."""
        return self._first.get(counter)

    def _saw_growth(self, counter: Counter, value: float, at: float) -> None:
        self._first.setdefault(counter, at)
        before, self._last[counter] = self._last.get(counter), (value, at)
        if before is None or at <= before[1]:
            return
        grown = max(0.0, value - before[0])
        self.rates[counter] = grown / (at - before[1])
        self.grown[counter] = self.grown.get(counter, 0.0) + grown
        if self.rates[counter] >= self._floors[counter]:
            self.moved[counter] = at

    def _saw_available(self, value: float, at: float) -> None:
        self.available = value
        self.lowest = value if self.lowest is None else min(self.lowest, value)
        if value <= self._marked - self._memory_step:
            if self._marked != float("inf"):
                self.moved[Counter.AVAILABLE] = at
            self._marked = value
