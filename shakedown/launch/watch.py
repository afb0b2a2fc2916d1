"""A launch as a state machine: events go in, its status comes out. It asks nobody and waits for nothing.

What has to be asked (a token, a look at nodes that stand still) is named by `Watch.due`; whoever drives the watch asks,
and feeds the answer as one more event.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

from shakedown.engines.vllm.phases import PhaseName
from shakedown.inventory.model import Deployment
from shakedown.launch.events import Answered, Contact, Event, Logged, Opened, Processes, Sampled, Stream
from shakedown.launch.history import Launched
from shakedown.launch.known import Known
from shakedown.launch.limits import Limits
from shakedown.launch.outcome import Outcome, judged
from shakedown.launch.ready import Proved
from shakedown.launch.silence import Rank, Silence, silence
from shakedown.launch.stall import Gathered
from shakedown.launch.status import Status
from shakedown.launch.view import view

ENGINE_LOGS = (Stream.SERVE, Stream.WORKER)
"""Ray's daemons write of themselves all the time, and the kernel of whatever it likes."""


class Due(Enum):
    """What is to be asked next: the API for a token, or the nodes for why nothing moves."""

    PROOF = "proof"
    EVIDENCE = "evidence"


class Watch:
    """Follows one launch.

    Args:
        deployment: what is launched.
        limits: when silence counts.
        earlier: launches on record, for the time left.
        since: when the launch was begun, seconds since the epoch: what is older is of another, and nobody but us may
            stop it. None to follow the latest launch that the logs tell of, whoever began it.
    """

    def __init__(
        self,
        deployment: Deployment,
        limits: Limits | None = None,
        earlier: Sequence[Launched] = (),
        since: float | None = None,
    ) -> None:
        self.known = Known(deployment, limits or Limits(), earlier, since)
        self._began: float | None = None
        self._outcome: Outcome | None = None

    def feed(self, event: Event | Gathered | Proved) -> None:
        """Take in what happened."""
        match event:
            case Logged():
                self._logged(event)
            case Sampled():
                self._live(event.at)
                self.known.nodes[event.node].signs.saw(event)
            case Processes():
                self._live(event.at)
                self.known.nodes[event.node].lives.saw(event)
            case Opened():
                self.known.nodes[event.node].opened(event)
            case Contact():
                self._contact(event)
            case Answered():
                self.known.api = event
            case Gathered():
                self.known.gathered[event.node] = event
            case Proved():
                self.known.proof = event

    def status(self, now: float) -> Status:
        """Where the launch is; what is settled stays so."""
        if self._outcome is None or not self._outcome.settled:
            self._look(now)
            self._outcome = judged(self.known, now)
        return view(self.known, self._outcome, now)

    @property
    def due(self) -> Due | None:
        """What is to be asked now, as of the last status."""
        if self._outcome is None or self._outcome.settled:
            return None
        if self.known.answers and self.known.proof is None:
            return Due.PROOF
        return Due.EVIDENCE if self.known.silence is not None and not self.known.gathered else None

    def _logged(self, event: Logged) -> None:
        line = event.line
        if self.known.since is not None and line.at < self.known.since:
            return
        if not event.backlog:
            self._live(line.at)
        self.known.evidence.feed(line)
        if self.known.course.feed(line):
            self.known.progressed = max(self.known.progressed, line.at)
            start = self.known.course.start
            if start is not None and start.progress is not None:
                self.known.estimate.saw(start.progress, line.at, live=not event.backlog)
        elif line.stream in ENGINE_LOGS and not self.known.limits.heartbeats.search(line.text):
            self.known.spoke = max(self.known.spoke, line.at)

    def _contact(self, event: Contact) -> None:
        """Silence of a head that could not be heard says nothing: it counts from when it is heard again."""
        self._live(event.at)
        seen = self.known.nodes[event.node]
        if seen is self.known.head and event.reached and not seen.reached:
            self.known.heard = event.at
        if not event.reached:
            self.known.evidence.lost(event.node)
        seen.contact = event

    def _live(self, at: float) -> None:
        if self.known.first_event is None:
            self.known.first_event = at
            self.known.progressed = max(self.known.progressed, at)

    def _look(self, now: float) -> None:
        start = self.known.course.start
        if start is not None and start.began_at is not None and start.began_at != self._began:
            self._begin(start.began_at)
        for seen in self.known.nodes.values():
            for ended in seen.lives.ended(now, self.known.limits.gone_s):
                self.known.evidence.ended(ended)
        self.known.silence = self._silence(now)
        if self.known.silence is None:
            self.known.gathered = {}

    def _begin(self, began: float) -> None:
        """A start was seen. What was written before belongs to another, unless it is the first of a launch of ours."""
        first, self._began = self._began is None, began
        self.known.starts = self.known.course.count()
        if first and self.known.since is not None:
            return
        live = not first and self.known.first_event is not None and began > self.known.first_event
        if live and (self.known.since is not None or self.known.evidence.stopped_at is None):
            self.known.restarted = True
            return
        self.known.evidence.begin(began)
        self.known.proof = None
        for seen in self.known.nodes.values():
            seen.signs.begin()

    def _silence(self, now: float) -> Silence | None:
        phase, limits = self.known.phase, self.known.limits
        if phase is None and self.known.head.lives.has("server"):
            phase, limits = PhaseName.PROCESS, limits.unheard()
        if phase is None or not self.known.head.reached or self.known.answers:
            return None
        ways = self.known.course.ways()
        nodes = self.known.nodes.items()
        return silence(
            phase,
            [Rank(ways[name].phase, seen.signs if seen.reached else None) for name, seen in nodes],
            limits,
            progressed=max(self.known.progressed, self.known.heard),
            spoke=self.known.spoke,
            item_s=self.known.estimate.item_s(phase),
            now=now,
        )
