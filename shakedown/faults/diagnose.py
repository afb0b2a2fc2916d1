"""Why has a launch failed? The earliest root over all logs of all nodes; a consequence only where there is no root.

Lines come in any order: the logs of a node lag each other, and nodes lag each other by more. So nothing is decided
while lines are taken in; a verdict looks at all that was seen, by the times at which the lines were written.
"""

from __future__ import annotations

import signal
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import inf

from shakedown.faults.diagnosis import UNCOVERED, Diagnosis, preflight
from shakedown.faults.lines import LogLine
from shakedown.faults.placeholders import filled
from shakedown.faults.sighting import Sighting
from shakedown.faults.signatures import is_noise, match, may_mean_something
from shakedown.faults.tracebacks import Tracebacks, unfolded
from shakedown.inventory.model import Deployment

_KEPT = 100
"""Lines kept of one signature on one node: a flood of the same line tells no more than its begin."""


_OF_OTHERS = ("serve log", "gcs_server.out")
"""Logs of the head in which stands what happened on other nodes, too."""

_PROCESSES = "processes"
"""Source of what is told by no log but by the list of processes."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Times of the diagnosis, s.

    Attributes:
        grace_s: how long the logs of all nodes may lag each other; a consequence alone is reported after that.
        window_s: a root explains consequences that are no further away than this.
        together_s: roots that are no further apart have happened at once, and the more specific one is reported.
        ended_s: the grace where a process was seen to end: who killed it, and what it raised, was written before.
        place_s: how long a root is kept back of which no line says yet on which node it is.
    """

    grace_s: float = 5.0
    window_s: float = 30.0
    together_s: float = 2.0
    ended_s: float = 0.3
    place_s: float = 0.8


class Diagnostician:
    """Takes in the lines of all nodes, and says why the launch has failed once it has."""

    def __init__(
        self,
        deployment: Deployment | None = None,
        *,
        since: float = -inf,
        expected: Mapping[str, Collection[str]] | None = None,
        limits: Limits | None = None,
    ) -> None:
        """Begin with nothing seen.

        Args:
            deployment: whose nodes they are; by it addresses in lines become nodes, and remedies are filled in.
            since: when this launch began; older lines belong to an earlier one.
            expected: logs of each node that should say something, for the list of those that did not.
            limits: times.
        """
        self._deployment = deployment
        self._nodes = {str(node.fabric_address): node.name for node in deployment.node} if deployment else {}
        self._since = since
        self._expected = expected or {}
        self._limits = limits or Limits()
        self._tracebacks = Tracebacks()
        self._sightings: dict[tuple[object, ...], list[Sighting]] = {}
        self._told: defaultdict[str, set[str]] = defaultdict(set)
        self._lost: dict[str, None] = {}
        self._clock = -inf
        self._stopped = inf

    def feed(self, line: LogLine) -> None:
        """Take a line in, from any log of any node, in any order between logs."""
        self._told[line.node].add(line.stream)
        if not (may_mean_something(line.text) or self._tracebacks.open) or line.at < self._since:
            return
        for part in unfolded(line):
            self._take(part)

    def exited(self, what: str, node: str, at: float, status: int | str | None = None) -> None:
        """Take in that a process of the launch or a container has ended, as one more line.

        Args:
            what: ``server``, ``engine``, ``worker``, ``raylet``, ``gcs`` or ``container``.
            node: on which node.
            at: when, on the clock of the lines.
            status: exit status, negative for a signal; words (``OOMKilled``) where there are; None where unknown.
        """
        self.feed(LogLine(node, "container", _PROCESSES, at, f"{what} ended: {_how(status)}"))

    def lost(self, node: str) -> None:
        """Take in that a node can no longer be followed: its logs may hold what will be missing."""
        self._lost[node] = None

    def stopping(self, at: float) -> None:
        """Take in that the launch is being stopped on purpose from that moment: what is written then is no crash."""
        self._stopped = min(self._stopped, at)

    def verdict(self, now: float, *, failed: bool = False) -> Diagnosis | None:
        """Why the launch has failed; None while nothing says that it has, or while the reason may still be under way.

        Args:
            now: on the clock of the lines.
            failed: it is known to have failed by other means (a standstill, a deadline): what alone is no failure
                explains it then.
        """
        self._clock = max(self._clock, now)
        seen = sorted(
            (one for many in self._sightings.values() for one in many if one.line.at < self._stopped),
            key=lambda sighting: sighting.written,
        )
        chosen = self._chosen(seen, now, failed)
        if chosen is None or (not failed and now < chosen.seen + self._limits.place_s and not _placed(chosen, seen)):
            return None
        return self._explained(chosen, seen, now)

    def _take(self, line: LogLine) -> None:
        read = self._tracebacks.feed(line)
        found = match(line)
        if found:
            node = self._node(line, found.details.get("ip") or read.address, found.signature.elsewhere)
            self._see(Sighting(line, found.signature.kind, node, self._now(line), found))
        elif read.raised and not is_noise(line.text):
            self._see(Sighting(line, "unknown", self._node(line, read.address), self._now(line)))

    def _chosen(self, seen: list[Sighting], now: float, failed: bool) -> Sighting | None:
        signs = _of(seen, "consequence")
        anchor = signs[0].line.at if signs else now
        roots = [root for root in _of(seen, "root") if not signs or root.explains(anchor, self._limits.window_s)]
        if roots:
            return self._first(roots)
        if not signs and not failed:
            return None
        suspects = self._near(_of(seen, "suspect"), anchor, bounded=bool(signs))
        if suspects:
            return self._first(suspects)
        if not failed and now < self._due(signs):
            return None
        unknown = self._near(_of(seen, "unknown"), anchor, bounded=bool(signs))
        return self._first(unknown or signs or _of(seen, "hint")[-1:])

    def _due(self, signs: list[Sighting]) -> float:
        """From when on a failure is told for which no root has come."""
        at_once = signs[0].line.at + self._limits.together_s
        ends = [sign.seen for sign in signs if sign.line.source == _PROCESSES and sign.line.at <= at_once]
        return min([signs[0].seen + self._limits.grace_s, *(seen + self._limits.ended_s for seen in ends)])

    def _near(self, sightings: Iterable[Sighting], anchor: float, *, bounded: bool) -> list[Sighting]:
        window = self._limits.window_s if bounded else inf
        return [sighting for sighting in sightings if abs(sighting.line.at - anchor) <= window]

    def _first(self, sightings: list[Sighting]) -> Sighting | None:
        """The earliest, or what tells more of the same moment."""
        at_once = [one for one in sightings if one.line.at <= sightings[0].line.at + self._limits.together_s]
        return min(at_once, key=lambda sighting: sighting.believed) if at_once else None

    def _explained(self, chosen: Sighting, seen: list[Sighting], now: float) -> Diagnosis:
        signs = [sighting for sighting in seen if sighting.kind in ("root", "consequence")] or [chosen]
        empty = sorted(
            f"{node}: {stream}"
            for node, streams in self._expected.items()
            for stream in streams
            if stream not in self._told[node]
        )
        return Diagnosis(
            **self._words(chosen, self._where(chosen, seen)),
            fault=chosen.fault,
            kind=chosen.kind,
            node=self._where(chosen, seen),
            line=chosen.line,
            others=_one_each(seen, ("root", "suspect", "unknown"), chosen.fault),
            consequences=_one_each(seen, ("consequence",), chosen.fault),
            hints=_one_each(seen, ("hint",), chosen.fault),
            empty=tuple(empty),
            unreachable=tuple(self._lost),
            settled=now >= min(sighting.seen for sighting in signs) + self._limits.grace_s,
        )

    def _words(self, chosen: Sighting, node: str) -> dict[str, str]:
        if chosen.match is None:
            return {
                "title": "unknown fault: please add it to the catalogue",
                "why": f"The earliest exception of the crash, which no signature knows:\n{chosen.line.text.strip()}",
                "symptom": "",
                "remedy": f"Read the traceback above that line in {chosen.line.source} on {chosen.line.node}.",
                "preflight": UNCOVERED,
            }
        entry = chosen.match.entry
        said = f"{chosen.match.said}\n" if chosen.match.said else ""
        alone = "A consequence; its root stands in no log that was read.\n" if chosen.kind == "consequence" else ""
        named = node if self._deployment and node in self._nodes.values() else None
        return {
            "title": entry.title,
            "why": said + alone + entry.cause,
            "symptom": entry.symptom,
            "remedy": filled(entry.remedy, self._deployment, named) if self._deployment else entry.remedy,
            "preflight": preflight(entry),
        }

    def _see(self, sighting: Sighting) -> None:
        pattern = sighting.match.signature.pattern if sighting.match else sighting.line.text
        same = self._sightings.setdefault((sighting.fault, pattern, sighting.line.node, sighting.line.stream), [])
        if len(same) < _KEPT:
            same.append(sighting)

    def _node(self, line: LogLine, address: str | None, elsewhere: bool = False) -> str | None:
        """Where it happened: what the head is told of other processes without an address may be about any node."""
        if address is not None:
            return self._nodes.get(address, address)
        open_ = line.stream in _OF_OTHERS and (elsewhere or line.text.startswith("(raylet)"))
        return None if open_ else line.node

    def _where(self, chosen: Sighting, seen: Iterable[Sighting]) -> str:
        return next(_places(chosen, seen), chosen.line.node)

    def _now(self, line: LogLine) -> float:
        self._clock = max(self._clock, line.at)
        return self._clock


def _places(chosen: Sighting, seen: Iterable[Sighting]) -> Iterator[str]:
    """Nodes on which it is: its own, then those of the same fault, the earliest first."""
    yield from (one.node for one in (chosen, *seen) if one.node and one.fault == chosen.fault)


def _placed(chosen: Sighting, seen: Iterable[Sighting]) -> bool:
    return next(_places(chosen, seen), None) is not None


def _of(sightings: Iterable[Sighting], kind: str) -> list[Sighting]:
    return [sighting for sighting in sightings if sighting.kind == kind]


def _one_each(sightings: Iterable[Sighting], kinds: Collection[str], but: str | None) -> tuple[Sighting, ...]:
    """The earliest of each fault but one."""
    earliest: dict[str | None, Sighting] = {}
    for sighting in sightings:
        if sighting.kind in kinds and sighting.fault != but:
            earliest.setdefault(sighting.fault, sighting)
    return tuple(earliest.values())


def _how(status: int | str | None) -> str:
    """A status in words; shells and docker report a signal as 128 and its number."""
    if status is None:
        return "status unknown"
    if isinstance(status, str):
        return status
    number = -status if status < 0 else status - 128
    try:
        return f"signal {signal.Signals(number).name}"
    except ValueError:
        return f"exit code {status}"
