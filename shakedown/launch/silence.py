"""When silence counts: a launch stands still where neither its log nor any counter of those it waits for moves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from shakedown.engines.vllm.phases import PhaseName
from shakedown.launch.events import Counter
from shakedown.launch.limits import Limits
from shakedown.launch.signs import CARRIED, Signs

APART = (PhaseName.WEIGHTS, PhaseName.MODEL, PhaseName.PROFILE)
"""Each rank loads by itself, and those that have loaded wait for the others; elsewhere they go together."""


@dataclass(frozen=True, slots=True)
class Rank:
    """One node, as far as its silence matters.

    Attributes:
        phase: where it is; None where nothing is known of it.
        signs: its counters; None where it cannot be reached, so that nothing follows from their silence.
    """

    phase: PhaseName | None
    signs: Signs | None


@dataclass(frozen=True, slots=True)
class Silence:
    """A silence that counts.

    Attributes:
        phase: in which it is.
        since: the last sign of progress.
        limit_s: how long it may last.
        spinning: something used a processor or wrote lines meanwhile, and got nowhere.
    """

    phase: PhaseName
    since: float
    limit_s: float
    spinning: bool


def silence(
    phase: PhaseName,
    ranks: Sequence[Rank],
    limits: Limits,
    *,
    progressed: float,
    spoke: float,
    item_s: float | None,
    now: float,
) -> Silence | None:
    """Whether it counts by now.

    Args:
        phase: the furthest that any node has shown.
        ranks: every node.
        limits: that hold.
        progressed: when a phase began or a bar moved last, or the watch could see it first.
        spoke: when a line was written last that is no heartbeat.
        item_s: what an item of this phase takes; None where it has none.
        now: the moment.
    """
    behind, where = _awaited(phase, ranks)
    limit = limits.of(where, item_s)
    signs = [rank.signs for rank in behind if rank.signs is not None]
    firm = _latest(progressed, signs, CARRIED if limit.carries else (Counter.READ,))
    loose = max(spoke, _latest(firm, signs, (Counter.CPU,)))
    if now - firm > limit.busy_s:
        return Silence(where, firm, limit.busy_s, spinning=loose > firm)
    if len(signs) == len(behind) and all(_fresh(one, limits, now) for one in signs) and now - loose > limit.quiet_s:
        return Silence(where, loose, limit.quiet_s, spinning=False)
    return None


def _awaited(phase: PhaseName, ranks: Sequence[Rank]) -> tuple[list[Rank], PhaseName]:
    """Those that the launch waits for, and where they are: all, or those that still load."""
    if phase not in APART:
        return list(ranks), phase
    places = [rank.phase or PhaseName.WEIGHTS for rank in ranks]
    last = min(places, key=lambda name: name.order, default=phase)
    where = last if last in APART else PhaseName.WEIGHTS
    return [rank for rank, place in zip(ranks, places, strict=True) if place.order <= where.order], where


def _latest(least: float, signs: Sequence[Signs], counters: tuple[Counter, ...]) -> float:
    return max([least, *(at for one in signs if (at := one.last(counters)) is not None)])


def _fresh(signs: Signs, limits: Limits, now: float) -> bool:
    at = signs.seen_at(Counter.CPU)
    return at is not None and now - at <= limits.sampled_s
