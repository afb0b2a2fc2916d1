"""What a node's clock is ahead of this machine's, measured over the connection that its lines come by."""

from __future__ import annotations

from collections import deque

KEPT = 16
"""Round trips that are compared: at one every 5 s, what two clocks drift apart meanwhile is a few milliseconds."""


class Clock:
    """Takes round trips and believes the fastest.

    A node's answer was given at some moment between question and answer here. Taking the middle is wrong by at most
    half the round trip; an answer that contradicts the best one by more than both may be wrong means that a clock was
    set, and begins anew.
    """

    def __init__(self) -> None:
        self._trips: deque[tuple[float, float]] = deque(maxlen=KEPT)

    def add(self, sent: float, there: float, received: float) -> None:
        """One round trip: when it began and ended by this machine's clock, and what the node's clock said meanwhile."""
        took = max(0.0, received - sent)
        offset = there - (sent + received) / 2
        if self._trips:
            best_took, best = min(self._trips)
            if abs(offset - best) > (took + best_took) / 2 + 0.05:
                self._trips.clear()
        self._trips.append((took, offset))

    @property
    def known(self) -> bool:
        """Whether anything was measured."""
        return bool(self._trips)

    @property
    def offset_s(self) -> float:
        """The node's clock minus this machine's, s."""
        return min(self._trips)[1]

    def here(self, there: float) -> float:
        """A moment of the node's clock on this machine's."""
        return there - self.offset_s
