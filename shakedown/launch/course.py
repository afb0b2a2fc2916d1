"""How far each node has come, from the server's log on the head and from the logs of Ray's workers on every node."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from shakedown.engines.vllm.phases import PhaseName, PhaseReader, RankState, Start
from shakedown.faults.lines import LogLine
from shakedown.inventory.model import Deployment
from shakedown.launch.events import Stream
from shakedown.launch.silence import APART

EARLY_S = 2.0
"""How much earlier than the server's first line a worker's log may begin: stamps are a second fine, clocks as well."""


@dataclass(frozen=True, slots=True)
class Way:
    """One node's way through a start.

    Attributes:
        marks: when each phase began, seconds since the epoch, in their order.
        phase: where its slowest rank is; None where no line tells of it.
    """

    marks: Mapping[PhaseName, float] = field(default_factory=dict)
    phase: PhaseName | None = None


class Course:
    """Reads both kinds of logs; the server's says which start it is.

    Args:
        deployment: whose nodes the ranks are on.
    """

    def __init__(self, deployment: Deployment) -> None:
        self._deployment = deployment
        self._served = PhaseReader()
        self._workers: dict[tuple[str, str], PhaseReader] = {}
        self._start: Start | None = None
        self._known = True

    @property
    def start(self) -> Start | None:
        """The latest start, None before the first."""
        if not self._known:
            self._start, self._known = self._served.start, True
        return self._start

    def count(self) -> int:
        """Number of starts; made anew at each call."""
        return len(self._served.starts)

    def feed(self, line: LogLine) -> bool:
        """Take in a line; true if it told something of a start."""
        if line.stream == Stream.SERVE:
            told = self._served.feed(line.text, line.at)
            self._known &= not told
            return told
        if line.stream != Stream.WORKER:
            return False
        key = (line.node, line.source)
        reader = self._workers.get(key) or PhaseReader()
        told = reader.feed(line.text, line.at)
        if told:
            self._workers[key] = reader
        return told

    def ways(self) -> dict[str, Way]:
        """Every node's way through the latest start."""
        start = self.start
        if start is None or start.began_at is None:
            return {node.name: Way() for node in self._deployment.node}
        ranks: dict[str, list[dict[PhaseName, float]]] = {node.name: [] for node in self._deployment.node}
        for node, marks in self._ranks(start, start.began_at):
            ranks[node].append(marks)
        head = self._deployment.head.name
        whole = {phase.name: start.began_at + phase.started_s for phase in start.phases}
        return {name: _way(of, whole, head=name == head) for name, of in ranks.items()}

    def _ranks(self, start: Start, began: float) -> Iterator[tuple[str, dict[PhaseName, float]]]:
        """Node and marks of every rank that a line told of; the log of a worker on its own node is believed first."""
        own: set[str] = set()
        for (node, _), reader in self._workers.items():
            of = reader.start
            if of is not None and of.began_at is not None and of.began_at >= began - EARLY_S:
                for rank in of.ranks.values():
                    own.add(node)
                    yield node, _marks(rank, of.began_at)
        for rank in start.ranks.values():
            name = self._node_of(rank)
            if name is not None and name not in own:
                yield name, _marks(rank, began)

    def _node_of(self, rank: RankState) -> str | None:
        """Ray names a node by its address; one that is no fabric address can only be a worker's if there is one."""
        if rank.ip is None:
            return self._deployment.head.name
        for node in self._deployment.node:
            if str(node.fabric_address) == rank.ip:
                return node.name
        return self._deployment.workers[0].name if len(self._deployment.workers) == 1 else None


def _marks(rank: RankState, began: float) -> dict[PhaseName, float]:
    return {phase.name: began + phase.started_s for phase in rank.phases}


def _way(ranks: list[dict[PhaseName, float]], whole: Mapping[PhaseName, float], *, head: bool) -> Way:
    """Of one node: a phase begins with the first rank that enters it, and the slowest says where the node is.

    What the server's log tells of the whole is the head's way, but for what its own ranks do apart. When all have
    loaded, every node goes the same way: few ranks write lines then.
    """
    marks: dict[PhaseName, float] = {}
    for name, at in (pair for rank in ranks for pair in rank.items()):
        marks[name] = min(at, marks.get(name, at))
    last = [max(rank, key=_order) for rank in ranks if rank]
    phase = min(last, key=_order, default=None)
    if head or ranks:
        shared = {name: at for name, at in whole.items() if _is_shared(name, phase, head=head, alone=not ranks)}
        marks = {**shared, **marks}
        furthest = max(shared, key=_order, default=None)
        if phase is None or (furthest is not None and furthest.order > phase.order):
            phase = furthest
    return Way({name: marks[name] for name in sorted(marks, key=_order)}, phase)


def _is_shared(name: PhaseName, own: PhaseName | None, *, head: bool, alone: bool) -> bool:
    if head:
        return alone or name not in APART
    return name.order > max(APART[-1].order, own.order if own else -1)


def _order(name: PhaseName) -> int:
    return name.order
