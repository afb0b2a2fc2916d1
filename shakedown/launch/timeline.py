"""What a launch that became ready leaves behind: its time line, and its line in the record."""

from __future__ import annotations

from datetime import UTC, datetime

from shakedown.engines.vllm.phases import Beginning, Facts, PhaseName, Start
from shakedown.launch.course import Way
from shakedown.launch.events import Counter
from shakedown.launch.history import Launched, kind_of
from shakedown.launch.known import Known
from shakedown.report.timeline import Compilation, NodeTimeline, PhaseRecord, Storage, TimelineRecord
from shakedown.units import GIB

COLD = 0.8
WARM = 0.1
"""Shares of what the ranks of a node need that were read from storage: from `COLD` on, and up to `WARM`.

Not 1 and 0: a rank reads its slices and not whole files, and the kernel reads ahead; and a tokenizer, a library and a
compile cache are read from storage in a warm start, too.
"""


SMALLEST = GIB
"""Need below which nothing is said: a cold Python with PyTorch, vLLM and Ray reads hundreds of MiB besides."""


def timeline_of(known: Known) -> TimelineRecord | None:
    """The time line; None where the start was not seen from its first line to its end."""
    start = _whole(known)
    if start is None or start.began_at is None or start.total_s is None:
        return None
    began, ways = start.began_at, known.course.ways()
    return TimelineRecord(
        began=datetime.fromtimestamp(began, UTC),
        stamp=start.first_stamp,
        ready_s=start.total_s,
        first_request_s=_first_request_s(known),
        compilation=compilation_of(start),
        engine=start.version or "",
        nodes=tuple(_node(known, name, ways[name], start, began) for name in known.nodes),
    )


def launched(known: Known) -> Launched | None:
    """The launch for the record; None where it is not ready, or was not seen whole."""
    start = _whole(known)
    if start is None or start.total_s is None or known.proof is None or not known.proof.ok:
        return None
    shards = start.weights.total if start.weights is not None and start.weights.unit == "shards" else None
    weights = start.phase(PhaseName.WEIGHTS)
    took = weights.took_s if weights is not None else None
    return Launched(
        kind=kind_of(known.deployment, start.version or ""),
        phases_s={phase.name.name: phase.took_s for phase in start.phases if phase.took_s is not None},
        total_s=start.total_s,
        item_s=took / shards if took is not None and shards else None,
        first_request_s=_first_request_s(known),
    )


def storage_of(read_bytes: float | None, needed_bytes: float | None) -> Storage:
    """Whether the weights came from storage or from the page cache; see `NodeTimeline.storage`."""
    if read_bytes is None or needed_bytes is None or needed_bytes < SMALLEST:
        return "unknown"
    share = read_bytes / needed_bytes
    return "cold" if share >= COLD else "warm" if share <= WARM else "mixed"


def compilation_of(start: Start) -> Compilation:
    """Where the graphs came from, as far as the log says; see `TimelineRecord.compilation`."""
    if start.facts.compile_cached is not None:
        return "warm" if start.facts.compile_cached else "cold"
    return "none" if start.phase(PhaseName.COMPILE) is None or start.facts.eager else "unknown"


def _whole(known: Known) -> Start | None:
    start = known.course.start
    return start if start is not None and start.beginning is Beginning.SERVER else None


def _first_request_s(known: Known) -> float | None:
    return known.proof.took_s if known.proof is not None and known.proof.ok else None


def _node(known: Known, name: str, way: Way, start: Start, began: float) -> NodeTimeline:
    read = _read_bytes(known, name, began)
    needed = _needed_bytes(start.facts, known)
    return NodeTimeline(
        node=name,
        phases=_phases(way, began, start.total_s or 0.0),
        storage=storage_of(read, needed),
        read_bytes=read,
        needed_bytes=needed,
        lowest_available_bytes=known.nodes[name].signs.lowest,
    )


def _phases(way: Way, began: float, ready_s: float) -> tuple[PhaseRecord, ...]:
    """Each until the next begins, the last until the whole is ready; being ready is no phase."""
    marks = [(name, at - began) for name, at in way.marks.items() if name is not PhaseName.READY]
    ends = [*(at for _, at in marks[1:]), ready_s]
    return tuple(
        PhaseRecord(name=name.value, began_s=max(0.0, at), ended_s=max(at, end))
        for (name, at), end in zip(marks, ends, strict=True)
    )


def _read_bytes(known: Known, name: str, began: float) -> float | None:
    """What was read since the start began; None where counting began later, or never."""
    signs = known.nodes[name].signs
    first = signs.first_seen_at(Counter.READ)
    loading = known.course.start.phase(PhaseName.WEIGHTS) if known.course.start is not None else None
    if first is None or loading is None or first > began + loading.started_s:
        return None
    return signs.grown.get(Counter.READ, 0.0)


def _needed_bytes(facts: Facts, known: Known) -> float | None:
    """Of the ranks of one node, of which every node has as many."""
    ranks = known.deployment.serve.tensor_parallel * known.deployment.serve.pipeline_parallel
    here = ranks / len(known.nodes)
    if facts.checkpoint_gib is not None:
        return facts.checkpoint_gib * GIB * here / ranks
    return facts.weights_gib * GIB * here if facts.weights_gib is not None else None
