"""The start of vLLM as its log tells it, line by line.

Bars redraw themselves, workers prefix their lines, Ray passes lines on late and in another order, colours may be on:
none of it matters here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from shakedown.engines.vllm.phases.bars import Bar, bar_in
from shakedown.engines.vllm.phases.facts import Facts
from shakedown.engines.vllm.phases.lines import Said, Speaker, lines_of, plain, said_by
from shakedown.engines.vllm.phases.markers import NOT_BEFORE, WORDS, marked
from shakedown.engines.vllm.phases.names import PhaseName
from shakedown.engines.vllm.phases.stamps import Stamps
from shakedown.engines.vllm.phases.starts import Beginning, RankState, Start
from shakedown.engines.vllm.phases.track import Track

_ARGUMENTS = "non-default args: "
"""Every start of a server prints it once; the version may stand before it, in lines of its own."""

_RANK = re.compile(r"world_size=\d+ rank=(\d{1,6})\b|rank (\d{1,6}) in world size \d")
_NUMBERED = re.compile(r"VllmWorker-(\d{1,6})$")


@dataclass(slots=True)
class _Rank:
    worker: Speaker
    rank: int | None = None
    track: Track = field(default_factory=Track)


@dataclass(slots=True)
class _Building:
    beginning: Beginning
    first: float
    first_stamp: str
    timed: bool
    arguments: bool = False
    engines: dict[str, int] = field(default_factory=dict)
    track: Track = field(default_factory=Track)
    ranks: dict[str, _Rank] = field(default_factory=dict)
    facts: Facts = field(default_factory=Facts)
    drawn: float = 0.0

    def built(self) -> Start:
        weights = self.track.bar(PhaseName.WEIGHTS)
        return Start(
            self.beginning,
            self.first if self.timed else None,
            self.first_stamp,
            self.track.phases,
            self.track.progress,
            weights.progress if weights else None,
            self.facts,
            {key: self._rank(rank) for key, rank in self.ranks.items()},
        )

    def _rank(self, one: _Rank) -> RankState:
        drawn = self.track.progress
        shown = drawn if one.rank == 0 and drawn is not None and not drawn.background else one.track.progress
        return RankState(one.rank, one.worker.name, one.worker.pid, one.worker.ip, one.track.phases, shown)


class PhaseReader:
    """Reads one log line by line, as it grows. More lines only ever add to what was said of a start."""

    def __init__(self) -> None:
        self._starts: list[_Building] = []
        self._stamps = Stamps()
        self._at: float | None = None

    @property
    def starts(self) -> tuple[Start, ...]:
        """Every start that the log tells of, oldest first; a log may be appended to by many."""
        return tuple(building.built() for building in self._starts)

    @property
    def count(self) -> int:
        """Number of starts."""
        return len(self._starts)

    @property
    def start(self) -> Start | None:
        """The latest start, None before the first."""
        return self._starts[-1].built() if self._starts else None

    @property
    def ranks(self) -> Mapping[str, RankState]:
        """The workers of the latest start."""
        return self.start.ranks if self.start else {}

    def feed(self, text: str, at: float | None = None) -> bool:
        """Take in one line, without its ending.

        Args:
            text: the line.
            at: when it was written, seconds since the epoch; None to go by the stamps of the log. One log is read in
                one of the two ways.

        Returns:
            Whether it told something new of a start.
        """
        text = plain(text)
        if not _means(text):
            if at is None:
                self._stamps.passes(text)
            return False
        drawn = bar_in(text)
        if drawn is None:
            return self._take(said_by(text), None, at)
        bar, _, end = drawn
        told = self._take(said_by(text[:end]), bar, at)
        return (bool(text[end:].strip()) and self._take(said_by(text[end:]), None, at)) or told

    def _take(self, said: Said, bar: Bar | None, at: float | None) -> bool:
        now = self._time(said.stamp, at)
        phase, ago = marked(said.message) or (None, 0.0)
        if now is None or not (phase or bar or self._starts):
            return False
        start = self._start_of(said, phase, now, timed=at is not None)
        facts, since = start.facts, now - start.first
        start.facts = facts.learnt(said.message)
        rank, known = _rank_of(start, said)
        told = start.facts != facts or not known
        entered = _placed(phase, start.track) if phase and (bar is None or said.stamp is not None) else None
        if entered is not None:
            told |= start.track.enter(entered, since, ago)
            told |= rank is not None and rank.track.enter(entered, since, ago)
        if bar is not None:
            told |= _draw(start, rank, bar, since)
        return told

    def _time(self, stamp: str | None, at: float | None) -> float | None:
        if at is not None:
            self._at = at if self._at is None else max(at, self._at)
        if self._at is not None:
            return self._at
        if stamp is not None:
            self._stamps.read(stamp)
        return self._stamps.now_s

    def _start_of(self, said: Said, phase: PhaseName | None, now: float, *, timed: bool) -> _Building:
        """The start that a line belongs to; a new one if the line begins one."""
        current = self._starts[-1] if self._starts else None
        beginning = _beginning(current, said, phase)
        if current is None or beginning is not None:
            current = _Building(beginning or Beginning.MIDDLE, now, said.stamp or "", timed)
            self._starts.append(current)
        current.arguments |= said.message.startswith(_ARGUMENTS)
        if phase is PhaseName.ENGINE and said.speaker is not None:
            current.engines[said.speaker.name] = said.speaker.pid
        return current


def _means(text: str) -> bool:
    for word in WORDS:  # noqa: SIM110 - twice as fast as any() over a generator, and most lines of a log end here
        if word in text:
            return True
    return False


def _beginning(current: _Building | None, said: Said, phase: PhaseName | None) -> Beginning | None:
    """What a line begins; None if it goes on with the current start."""
    if phase is PhaseName.PROCESS:
        again = current is None or current.beginning is not Beginning.SERVER or current.arguments
        return Beginning.SERVER if again else None
    if phase is PhaseName.ENGINE and current is not None and said.speaker is not None:
        known = current.engines.get(said.speaker.name)
        return Beginning.ENGINE if known is not None and known != said.speaker.pid else None
    return None


def _rank_of(start: _Building, said: Said) -> tuple[_Rank | None, bool]:
    """The rank that wrote a line, None for other processes; and whether all that the line tells of it was known."""
    worker = said.worker
    if worker is None:
        return None, True
    key = f"pid={worker.pid}" + (f", ip={worker.ip}" if worker.ip else "")
    known = key in start.ranks
    rank = start.ranks.setdefault(key, _Rank(worker))
    before = rank.worker.name, rank.rank
    if worker.name.startswith("Worker_"):
        rank.worker = worker
    if rank.rank is None and (told := _RANK.match(said.message) or _NUMBERED.match(worker.name)):
        rank.rank = int(next(group for group in told.groups() if group))
    return rank, known and before == (rank.worker.name, rank.rank)


def _draw(start: _Building, rank: _Rank | None, bar: Bar, since: float) -> bool:
    """Take in a bar: rank 0 draws them, but for counts in the background, which every rank writes."""
    if bar.progress.background:
        own = rank is not None and rank.track.draw(bar)
        return start.track.draw(bar) or own
    phase, told = _placed(bar.progress.phase, start.track) or bar.progress.phase, False
    bar = replace(bar, progress=replace(bar.progress, phase=phase))
    moves = start.timed and phase is PhaseName.WEIGHTS and _moves(start, bar, since)
    if moves or not start.track.marks or start.track.order >= NOT_BEFORE[phase].order:
        told = start.track.enter(phase, since, bar.elapsed_s if moves else 0.0)
    start.drawn = since
    return start.track.draw(bar) or told


def _placed(phase: PhaseName, track: Track) -> PhaseName | None:
    """The phase that a line or bar tells of, by where the start is; None if it begins none there.

    While the KV cache has no size, graphs are captured to measure them, and kernels are tuned by the way.
    """
    measured = PhaseName.MODEL.order <= track.order < PhaseName.KV_CACHE.order
    if not measured or phase not in (PhaseName.GRAPHS, PhaseName.WARMUP):
        return phase
    return PhaseName.GRAPH_MEMORY if phase is PhaseName.GRAPHS else None


def _moves(start: _Building, bar: Bar, since: float) -> bool:
    """Whether the bar moved as time passed: then it is drawn now, whatever lines Ray still keeps back."""
    before = start.track.bar(bar.progress.phase)
    return before is not None and not bar.follows(before) and since > start.drawn


def starts_of(log: str) -> tuple[Start, ...]:
    """Every start that a whole log tells of, oldest first. Never raises, whatever the text."""
    reader = PhaseReader()
    for line in lines_of(log):
        reader.feed(line)
    return reader.starts
