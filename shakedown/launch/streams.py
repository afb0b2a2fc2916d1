"""Everything that a launch tells on all its nodes, as one queue of events; nothing is written anywhere."""

from __future__ import annotations

import queue
import threading
from collections.abc import Sequence
from types import TracebackType

from shakedown.inventory.model import Deployment
from shakedown.launch.api import ApiThread
from shakedown.launch.events import Event
from shakedown.launch.follower import FollowerThread
from shakedown.launch.intake import Zone
from shakedown.launch.link import END_S
from shakedown.launch.places import places


class Streams:
    """Follows a deployment from the moment it is entered until it is left.

    Args:
        deployment: what to follow. Its nodes need not be reachable, nor its container be there: that is told, and tried
            again.
        words: a line of a long backlog is sent only if it holds one of them, in exactly this spelling; what is written
            from now on, and the last 64 KiB of each log, is sent whole.
        events: where events go; a queue of its own unless given.

    Attributes:
        events: the queue.
    """

    def __init__(
        self, deployment: Deployment, words: Sequence[str], events: queue.SimpleQueue[Event] | None = None
    ) -> None:
        self.events: queue.SimpleQueue[Event] = queue.SimpleQueue() if events is None else events
        self._stopped = threading.Event()
        zones = {node.name: Zone() for node in deployment.node}
        self._threads: list[threading.Thread] = [
            FollowerThread(place, words, zones[place.node], self.events.put, self._stopped)
            for place in places(deployment)
        ]
        self._threads.append(ApiThread(deployment, self.events.put, self._stopped))

    def __enter__(self) -> Streams:
        for thread in self._threads:
            thread.start()
        return self

    def close(self) -> None:
        """End every follower, with whatever it started; nothing is left on any node."""
        self._stopped.set()
        for thread in self._threads:
            if thread.ident is not None:
                thread.join(4 * END_S)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
