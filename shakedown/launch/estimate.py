"""The time left of a launch: its bars and the record of earlier launches, put together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from shakedown.engines.vllm.phases import PhaseName, Progress
from shakedown.inventory.model import Deployment
from shakedown.launch.eta import Pace, all_left_s
from shakedown.launch.history import Launched, kind_of, records_of


@dataclass(frozen=True, slots=True)
class Left:
    """Seconds left of the phase and until the launch is ready; None where that is not known."""

    phase_s: float | None = None
    all_s: float | None = None


class Estimate:
    """Follows the bars of one start.

    Args:
        deployment: what is launched.
        earlier: launches on record, of any kind.
    """

    def __init__(self, deployment: Deployment, earlier: Sequence[Launched]) -> None:
        self._deployment = deployment
        self._earlier = earlier
        self._pace = Pace()
        self._bar: tuple[PhaseName, str, int] | None = None

    def saw(self, progress: Progress, at: float, *, live: bool) -> None:
        """Take in a bar; one of a backlog has no time of its own, so its own rate is taken."""
        if progress.background:
            return
        bar = (progress.phase, progress.unit, progress.total)
        if bar != self._bar:
            self._bar, self._pace = bar, Pace()
        if live:
            self._pace.saw(progress.done, at)
        else:
            self._pace.was_told(progress.done, at, progress.seconds_per_item)

    def item_s(self, phase: PhaseName) -> float | None:
        """What an item of that phase takes by now; None where none was timed."""
        return self._pace.item_s if self._bar is not None and self._bar[0] is phase else None

    def left(self, phase: PhaseName, elapsed_s: float, now: float, version: str) -> Left:
        """What is left at a moment.

        Args:
            phase: in which the launch is.
            elapsed_s: since that phase began.
            now: the moment.
            version: of the engine; "" while that is not known.
        """
        kind = kind_of(self._deployment, version)
        same = [launched for launched in self._earlier if launched.kind.equals(kind)]
        records = {
            PhaseName[name]: record for name, record in records_of(same).items() if name in PhaseName.__members__
        }
        current = self._by_bar(phase, now, same)
        if current is None and phase in records:
            current = records[phase].left_s(elapsed_s)
        later = [name for name in PhaseName if name.order > phase.order and name is not PhaseName.READY]
        return Left(current, all_left_s(current, later, records))

    def _by_bar(self, phase: PhaseName, now: float, same: Sequence[Launched]) -> float | None:
        if self._bar is None or self._bar[0] is not phase:
            return None
        _, unit, total = self._bar
        expected: float | None = None
        if phase is PhaseName.WEIGHTS and unit == "shards":
            known = [launched.item_s for launched in same if launched.item_s is not None]
            expected = median(known) if known else self._deployment.profile.load_s_per_shard
        return self._pace.left_s(total, now, expected)
