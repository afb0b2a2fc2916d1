"""A thread for each place: it keeps a follower there, whatever becomes of the connection."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence

from shakedown.errors import NodeUnreachableError
from shakedown.launch import wire
from shakedown.launch.conversation import Conversation
from shakedown.launch.events import Contact, Event, Opened, Stream
from shakedown.launch.intake import FLUSH_LOST_S, FLUSH_S, Intake, Zone
from shakedown.launch.link import Link
from shakedown.launch.places import Place
from shakedown.nodes import container
from shakedown.nodes.advice import advice

SILENT_S = 20.0
"""A follower tells its counters every second; after so long without a word it is taken for lost."""

READY_S = 30.0
"""What a connection may take, and Python to start on a machine under load."""

PAUSES_S = (0.5, 1.0, 2.0, 4.0, 8.0, 15.0)
"""Between attempts; from the last on, always that."""

TURN_S = 0.2


class FollowerThread(threading.Thread):
    """Follows one place until it is told to stop.

    Args:
        place: where.
        words: of the lines that a long backlog is sifted for.
        zone: of the engine's place on that node, shared by the followers of the node.
        emit: takes events.
        stopped: set when all is to end.
    """

    def __init__(
        self, place: Place, words: Sequence[str], zone: Zone, emit: Callable[[Event], None], stopped: threading.Event
    ) -> None:
        super().__init__(name=f"follower of {place.node}: {place.transport}", daemon=True)
        self._place = place
        self._words = list(words)
        self._zone = zone
        self._emit = emit
        self._stopped = stopped
        self._intake = Intake(place.node, zone, emit)
        self._told: str | None = None
        self._failures = 0

    def run(self) -> None:
        """Connect, follow, and begin again."""
        while not self._stopped.is_set():
            try:
                why = self._follow()
            except (NodeUnreachableError, OSError) as error:
                why = str(error)
            if not self._stopped.is_set():
                self._tell(why)
                self._pause()

    def _pause(self) -> None:
        until = time.monotonic() + PAUSES_S[min(self._failures, len(PAUSES_S) - 1)]
        self._failures += 1
        while time.monotonic() < until and not self._stopped.wait(TURN_S):
            self._intake.flush(FLUSH_LOST_S)

    def _follow(self) -> str:
        """Follow over one connection; returns why it ended."""
        argv = self._place.transport.argv(wire.script(self._place.pythons))
        with Link(argv) as link:
            conversation = Conversation(self._place, self._words, self._zone, self._intake, link)
            while not self._stopped.is_set() and not link.ended:
                for frame in link.frames(TURN_S):
                    conversation.hear(frame)
                conversation.ping()
                if conversation.follows:
                    self._failures = 0
                    self._tell("", conversation.offset_s)
                    self._intake.flush(FLUSH_S)
                silent_s = time.monotonic() - link.heard
                if silent_s > (SILENT_S if conversation.follows else READY_S):
                    return f"no sign of life for {silent_s:.0f} s over {self._place.transport}"
            return "" if self._stopped.is_set() else self._reason(*link.farewell())

    def _reason(self, code: int, said: str) -> str:
        if self._place.container and (down := container.down(said, self._place.container, self._place.node)):
            return str(down)
        return f"{said or 'the connection ended without a word'} (exit code {code}){advice(said)}"

    def _tell(self, why: str, offset_s: float | None = None) -> None:
        """A container that is not there is a log that is missing; a machine that is not there is told as such."""
        if why == self._told:
            return
        self._told = why
        if self._place.container:
            source = f"docker exec {self._place.container}"
            self._emit(Opened(self._place.node, Stream.CONTAINER, source, there=not why, why=why))
        else:
            self._emit(Contact(self._place.node, time.time(), not why, why, offset_s))
