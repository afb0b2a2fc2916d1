"""The start of the served model as a measurement: from its time line where it was followed, else from its log.

What a start takes depends on where the weights came from and on whether graphs were compiled: starts that differ in one
of these are different work, and each kind has a record of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from shakedown.engines.vllm.phases import PhaseName, Start
from shakedown.launch.timeline import compilation_of
from shakedown.load.cold_start import SCENARIO, TOTAL, phase_metric, start_metrics
from shakedown.load.metrics import Metrics
from shakedown.outcomes import Metric
from shakedown.report.timeline import NodeTimeline, TimelineRecord
from shakedown.verdict.judge import Measurement

FIRST_REQUEST = "first_request_s"
NOT_FOLLOWED = "the start was not followed from here"

SAME_S = 3.0
"""Between the length of a start by the moments at which its lines were read and by their stamps, which are whole
seconds."""


def is_of(timeline: TimelineRecord, start: Start) -> bool:
    """Whether a time line is that of a start which a log tells of.

    The stamp of the first line is compared as it was written, so that no clock has to be right.
    """
    total = start.total_s
    return timeline.stamp == start.first_stamp and total is not None and abs(timeline.ready_s - total) < SAME_S


def measurement_of(
    start: Start, timeline: TimelineRecord | None, nodes: Iterable[str], conditions: Mapping[str, str]
) -> Measurement:
    """The measurement of a start that has ended.

    Args:
        start: as the log tells it.
        timeline: the same start as it was followed; None where it was not.
        nodes: names of all.
        conditions: what must be equal of the served model for two starts to be compared.
    """
    weights = timeline.storage if timeline is not None else "unknown"
    compilation = timeline.compilation if timeline is not None else compilation_of(start)
    return Measurement(
        scenario=SCENARIO,
        metrics=metrics_of(start, timeline, nodes),
        source=f"start of {start.first_stamp}",
        conditions={**conditions, "weights": weights, "compilation": compilation},
        invalid=(),
        gated=(TOTAL,),
        variant=f"weights-{weights}-compile-{compilation}",
        unlike=_unlike(timeline) if timeline is not None else "",
    )


def metrics_of(start: Start, timeline: TimelineRecord | None, nodes: Iterable[str]) -> Metrics:
    """Length of the start and of its phases, first request, what each node read from storage.

    A time line knows fractions of a second where stamps of a log are whole ones; a phase takes as long as on the
    slowest node.
    """
    if timeline is None:
        unknown = [Metric(name, None, unit, note=NOT_FOLLOWED) for name, unit in _only_followed(nodes)]
        return {**start_metrics(start), **{metric.name: metric for metric in unknown}}
    metrics = [Metric(TOTAL, timeline.ready_s, "s", "lower", 1), *_phases(timeline), _first_request(timeline)]
    metrics += [_read(node) for node in timeline.nodes]
    return {**start_metrics(start), **{metric.name: metric for metric in metrics}}


def _only_followed(nodes: Iterable[str]) -> list[tuple[str, str]]:
    return [(FIRST_REQUEST, "s"), *((f"read_bytes.{node}", "bytes") for node in nodes)]


def _phases(timeline: TimelineRecord) -> list[Metric]:
    longest: dict[str, float] = {}
    for phase in (phase for node in timeline.nodes for phase in node.phases):
        longest[phase.name] = max(phase.took_s, longest.get(phase.name, 0.0))
    return [phase_metric(PhaseName(name), seconds) for name, seconds in longest.items()]


def _first_request(timeline: TimelineRecord) -> Metric:
    note = "" if timeline.first_request_s is not None else "not asked"
    return Metric(FIRST_REQUEST, timeline.first_request_s, "s", "lower", 1, note)


def _read(node: NodeTimeline) -> Metric:
    note = f"weights {node.storage}" if node.read_bytes is not None else "no counter"
    return Metric(f"read_bytes.{node.node}", node.read_bytes, "bytes", "none", 1, note)


def _unlike(timeline: TimelineRecord) -> str:
    """A part of the weights from the page cache, another from storage: how large it was is different every time."""
    if timeline.storage != "mixed":
        return ""
    each = ", ".join(f"{node.storage} on {node.node}" for node in timeline.nodes)
    return f"neither a cold start nor a warm one, so it is compared with none: weights {each}"
