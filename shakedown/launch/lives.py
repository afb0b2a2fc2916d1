"""Which processes of a launch live on one node: what ended, what was replaced, what is stopped."""

from __future__ import annotations

from dataclasses import dataclass

from shakedown.launch.events import Processes

TAKES_ALONG = {
    "server": ("engine", "worker"),
    "gcs": ("engine", "worker"),
    "engine": ("worker",),
    "raylet": ("worker",),
    "worker": (),
}
"""Kinds without which a launch cannot become ready, and what ends within a second of each."""

TOGETHER_S = 2.0
"""Clocks and looks differ by parts of a second, so the order in which two are missed says nothing within this."""

LATER_S = {"engine": 0.2, "worker": 0.4}
"""How much later these are told than the others, so that what takes them along is known by then: it ends before them,
and every node looks ten times a second."""


@dataclass(frozen=True, slots=True)
class Ended:
    """A kind of process of which none is left, or a server that gave way to another.

    Attributes:
        node: where.
        kind: see `TAKES_ALONG`.
        pids: those that are gone.
        at: when that was seen.
        by: process ids of those in their place; empty where there are none.
    """

    node: str
    kind: str
    pids: tuple[int, ...]
    at: float
    by: tuple[int, ...] = ()

    def goes_with(self, other: Ended) -> bool:
        """Whether it ended because the other did; of a raylet only the workers beside it do."""
        beside = other.kind != "raylet" or other.node == self.node
        return beside and self.kind in TAKES_ALONG[other.kind] and abs(self.at - other.at) <= TOGETHER_S


class Lives:
    """Takes in what is seen of one node.

    Attributes:
        alive: process ids by kind; None before anything was seen.
        port_owner: who listens on the API port, see `Processes`.
    """

    def __init__(self, node: str) -> None:
        self._node = node
        self._missed: dict[str, Ended] = {}
        self._replaced: list[Ended] = []
        self._stopped: dict[int, float] = {}
        self.alive: dict[str, tuple[int, ...]] | None = None
        self.port_owner: str | None = None

    def saw(self, processes: Processes) -> None:
        """Take in which live now."""
        for kind in TAKES_ALONG:
            before, now = (self.alive or {}).get(kind, ()), tuple(processes.alive.get(kind, ()))
            if now:
                self._missed.pop(kind, None)
            elif before:
                self._missed[kind] = Ended(self._node, kind, before, processes.at)
            if kind == "server" and before and now and not set(before) & set(now):
                self._replaced.append(Ended(self._node, kind, before, processes.at, by=now))
        self.alive = dict(processes.alive)
        self._stopped = {pid: self._stopped.get(pid, processes.at) for pid in processes.stopped}
        self.port_owner = processes.port_owner

    def ended(self, now: float, for_s: float) -> list[Ended]:
        """What has been gone for so long, and what was replaced; each is told once."""
        gone = [one for one in self._missed.values() if now - one.at >= for_s + LATER_S.get(one.kind, 0.0)]
        for ended in gone:
            del self._missed[ended.kind]
        replaced, self._replaced = self._replaced, []
        return gone + replaced

    def stopped(self, now: float, for_s: float) -> list[tuple[str, int]]:
        """Kind and process id of those that have been in state T for so long."""
        kinds = {pid: kind for kind, pids in (self.alive or {}).items() for pid in pids}
        return [(kinds.get(pid, "process"), pid) for pid, since in self._stopped.items() if now - since >= for_s]

    def has(self, kind: str) -> bool:
        """Whether one of that kind lives."""
        return bool((self.alive or {}).get(kind))

    @property
    def serves(self) -> bool:
        """Whether it is a server seen here that listens on the port of the API."""
        pids = (self.alive or {}).get("server", ())
        return any((self.port_owner or "").endswith(f"({pid})") for pid in pids)
