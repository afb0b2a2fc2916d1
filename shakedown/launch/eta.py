"""How long a launch will still take, from its own rate and from earlier launches; nothing where neither is known.

The first items of a load come from a warm page cache ten times as fast as those behind them, and a rate that follows
every item jumps: so the rate is weighted exponentially, and it is not trusted by itself before a tenth of the items
has been seen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TypeVar

Name = TypeVar("Name")

WEIGHT = 0.25
"""Of the newest item: after eight items at a new pace nine tenths of the old one are forgotten."""

TRUSTED_ITEMS = 4
TRUSTED_SHARE = 0.1
"""Items whose time was seen, before their rate alone is believed: the greater of a number and a share of all."""


class Pace:
    """Time an item takes, weighted exponentially, as items are seen to be done."""

    def __init__(self) -> None:
        self._done: float = 0
        self._at: float | None = None
        self._seen: float = 0
        self._mean_s: float | None = None

    @property
    def item_s(self) -> float | None:
        """Seconds an item takes by now; None before two sightings."""
        return self._mean_s

    def saw(self, done: float, at: float) -> None:
        """Take in that so many items were done at that moment; a smaller number begins anew."""
        if self._at is None or done < self._done:
            self._done, self._at, self._seen, self._mean_s = done, at, 0, None
            return
        items = done - self._done
        if items <= 0 or at < self._at:
            return
        each = (at - self._at) / items
        kept = (1 - WEIGHT) ** items
        self._mean_s = each if self._mean_s is None else kept * self._mean_s + (1 - kept) * each
        self._done, self._at, self._seen = done, at, self._seen + items

    def was_told(self, done: float, at: float, item_s: float | None) -> None:
        """Take in a bar of which only its own rate is known, not when its items were done."""
        self._done, self._at, self._mean_s = done, at, item_s
        self._seen = done if item_s is not None else 0

    def trusted(self, total: float) -> bool:
        """Whether enough items were timed for the rate to stand by itself."""
        return self._seen >= min(total, max(TRUSTED_ITEMS, TRUSTED_SHARE * total))

    def left_s(self, total: float, now: float, expected_s: float | None = None) -> float | None:
        """Time until all are done, s; None where nothing can be said.

        Args:
            total: number of items.
            now: the moment it is asked for.
            expected_s: what an item takes by other knowledge. Before the rate is trusted the slower of both counts.
        """
        each = self._item_s(total, expected_s)
        if each is None:
            return None
        under_way = min(each, max(0.0, now - self._at)) if self._at is not None else 0.0
        return max(0.0, (total - self._done) * each - under_way)

    def _item_s(self, total: float, expected_s: float | None) -> float | None:
        if self._mean_s is not None and (self._done >= total or self.trusted(total)):
            return self._mean_s
        if expected_s is None:
            return None
        return max(expected_s, self._mean_s or 0.0)


@dataclass(frozen=True, slots=True)
class Record:
    """How long one phase took in earlier launches, s; at least one of them."""

    seconds: Sequence[float]

    @property
    def median_s(self) -> float:
        """Half of the launches took no longer."""
        return median(self.seconds)

    def left_s(self, elapsed_s: float) -> float | None:
        """What is left of a phase that has lasted so long, s; None beyond the longest that was ever seen."""
        for usual in (self.median_s, max(self.seconds)):
            if elapsed_s <= usual:
                return usual - max(0.0, elapsed_s)
        return None


def all_left_s(current_left_s: float | None, later: Sequence[Name], records: Mapping[Name, Record]) -> float | None:
    """Time until the launch is ready, s: what is left of the phase it is in and the medians of those behind it.

    A phase that no earlier launch of the kind went through does not count (eager mode captures no graphs).

    Args:
        current_left_s: of the phase it is in; None where that is unknown, and so is the sum.
        later: phases that may come behind it.
        records: by phase; empty where there was no earlier launch, and then the sum is unknown.
    """
    if current_left_s is None or (later and not records):
        return None
    return current_left_s + sum(records[name].median_s for name in later if name in records)
