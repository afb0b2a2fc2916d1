"""Everything that a watch has seen of a launch, as the rules of its outcome and its status read it."""

from __future__ import annotations

from collections.abc import Sequence
from http import HTTPStatus
from math import inf

from shakedown.engines.vllm.phases import PhaseName
from shakedown.inventory.model import Deployment
from shakedown.launch.course import Course
from shakedown.launch.estimate import Estimate
from shakedown.launch.events import Answered
from shakedown.launch.evidence import Evidence
from shakedown.launch.history import Launched
from shakedown.launch.limits import Limits
from shakedown.launch.ready import Proved
from shakedown.launch.seen import Seen
from shakedown.launch.silence import Silence
from shakedown.launch.stall import Gathered


class Known:
    """What is known; arguments as of `Watch`.

    Attributes:
        nodes: each node by its name.
        head: the one with the server.
        course: how far the start has come.
        evidence: what was written and what ended.
        estimate: of the time left.
        api: the last answer of the API; None before the first.
        proof: the request for a token, once it has ended.
        gathered: what the nodes said at the present standstill.
        silence: what keeps silent for too long, as of the last look.
        starts: how many starts of the server the log tells of.
        restarted: the server was started again, and nobody had stopped it.
        first_event: when the first live event came; what a log tells before that is its past.
        progressed: when a phase began or a bar moved last, or the watch could have seen it first.
        heard: when the head was reached, first or again; before that its silence says nothing.
        spoke: when a line was written last that is no heartbeat.
    """

    def __init__(
        self, deployment: Deployment, limits: Limits, earlier: Sequence[Launched], since: float | None
    ) -> None:
        self.deployment = deployment
        self.limits = limits
        self.since = since
        self.nodes = {node.name: Seen.of(node, limits) for node in deployment.node}
        self.head = self.nodes[deployment.head.name]
        self.course = Course(deployment)
        self.evidence = Evidence(deployment, -inf if since is None else since, owned=since is not None)
        self.estimate = Estimate(deployment, earlier)
        self.api: Answered | None = None
        self.proof: Proved | None = None
        self.gathered: dict[str, Gathered] = {}
        self.silence: Silence | None = None
        self.starts = 0
        self.restarted = False
        self.first_event: float | None = None
        self.progressed = self.heard = self.spoke = -inf

    @property
    def phase(self) -> PhaseName | None:
        """The furthest that any node has shown; Ray may bring a worker's lines late into the server's log."""
        shown = [name for way in self.course.ways().values() for name in way.marks]
        return max(shown, key=lambda name: name.order, default=None)

    @property
    def healthy(self) -> bool:
        """Whether the API says that it is well, and is that of this launch.

        While a start of ours has not come as far as its API, what answers on the port is another server, unless one
        that is seen here listens on it: the log may be elsewhere, or its level WARNING.
        """
        if self.api is None or self.api.health != HTTPStatus.OK:
            return False
        if self.head.lives.serves:
            return True
        start = self.course.start
        if start is None or start.now is None:
            return self.since is None
        return start.now.name.order >= PhaseName.API.order or (self.since is None and not self.moves_now)

    @property
    def answers(self) -> bool:
        """Whether it lists the model, too."""
        return self.healthy and self.api is not None and self.deployment.model.served_name in self.api.models

    @property
    def moves_now(self) -> bool:
        """Whether the start has come further since the watch began to see."""
        return self.first_event is not None and self.progressed > self.first_event
