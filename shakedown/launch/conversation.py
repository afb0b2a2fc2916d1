"""What is said over one connection: who is there, whose clock says what, what to follow; then its frames."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from shakedown.launch.clock import Clock
from shakedown.launch.intake import Intake, Zone
from shakedown.launch.link import Link
from shakedown.launch.places import Place

PINGS_FIRST = 4
"""Round trips before anything is followed: the first is slow, and every time that is told rests on them."""

PING_EVERY_S = 5.0


class Conversation:
    """One connection to one follower.

    Args:
        place: where the follower is, and what it is to follow.
        words: of the lines that a long backlog is sifted for.
        zone: of the engine's place on that node.
        intake: takes the frames; what it has already is not asked for again.
        link: the connection.

    Attributes:
        follows: whether the order was given.
    """

    def __init__(self, place: Place, words: Sequence[str], zone: Zone, intake: Intake, link: Link) -> None:
        self.follows = False
        self._place = place
        self._words = list(words)
        self._zone = zone
        self._intake = intake
        self._link = link
        self._clock = Clock()
        self._pongs = 0
        self._next_ping = float("inf")

    @property
    def offset_s(self) -> float:
        """The node's clock minus this machine's, s; known as soon as anything is followed."""
        return self._clock.offset_s

    def hear(self, frame: Mapping[str, Any]) -> None:
        """Take in one frame, and answer where an answer is due."""
        received = time.time()
        if frame["k"] == "ready":
            if self._place.runs_engine:
                self._zone.set(frame["zone"])
            self._ping()
        elif frame["k"] == "pong":
            self._clock.add(frame["ping"], frame["at"], received)
            self._pongs += 1
            if self._pongs < PINGS_FIRST:
                self._ping()
            elif not self.follows:
                self.follows = True
                self._intake.resume()
                self._link.send(**self._place.order, words=self._words, positions=self._intake.positions)
        elif self.follows:
            self._intake.take(frame, self._clock)

    def ping(self) -> None:
        """Ask for the clock if it is time to; it also tells the follower that somebody is here."""
        if time.monotonic() >= self._next_ping:
            self._ping()

    def _ping(self) -> None:
        self._next_ping = time.monotonic() + PING_EVERY_S
        self._link.send(ping=time.time())
