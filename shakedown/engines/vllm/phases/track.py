"""Phases and bars of one process or of the whole, as they come."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import zip_longest

from shakedown.engines.vllm.phases.bars import Bar, Progress
from shakedown.engines.vllm.phases.names import Phase, PhaseName


@dataclass(slots=True)
class Track:
    """Only ever goes forward: a phase that comes late is passed over, and so is an older drawing of a bar."""

    marks: list[tuple[PhaseName, float]] = field(default_factory=list)
    progress: Progress | None = None
    _bars: dict[tuple[PhaseName, bool], Bar] = field(default_factory=dict)

    @property
    def order(self) -> int:
        """Position of the latest phase, -1 before the first."""
        return self.marks[-1][0].order if self.marks else -1

    @property
    def phases(self) -> tuple[Phase, ...]:
        """What was entered, in order."""
        ends = (at for _, at in self.marks[1:])
        return tuple(Phase(name, at, end) for (name, at), end in zip_longest(self.marks, ends))

    def enter(self, name: PhaseName, at_s: float, ago_s: float = 0.0) -> bool:
        """Begin a phase, so long ago but not before the one before it; False if it is passed already."""
        if name.order <= self.order:
            return False
        self.marks.append((name, max(at_s - ago_s, self.marks[-1][1] if self.marks else at_s)))
        if self.progress is not None and self.progress.phase.order < name.order:
            self.progress = None
        return True

    def bar(self, phase: PhaseName) -> Bar | None:
        """The latest drawing of the latest bar of a phase."""
        return self._bars.get((phase, False))

    def draw(self, bar: Bar) -> bool:
        """Take in a drawing of a bar; False if it shows nothing new."""
        new = bar.progress
        before = self._bars.get((new.phase, new.background))
        if before is not None and not bar.follows(before) and new.done <= before.progress.done:
            return False
        self._bars[new.phase, new.background] = bar
        if new.complete and new.phase.order < self.order:
            self.progress = None if self._shows(new) else self.progress
        elif not (new.background and self.progress and not self.progress.background):
            self.progress = new
        return True

    def _shows(self, progress: Progress) -> bool:
        return self.progress is not None and self.progress.phase is progress.phase
