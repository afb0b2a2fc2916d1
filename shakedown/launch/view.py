"""The status of a launch, put together from what a watch has seen."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise, zip_longest

from shakedown.engines.vllm.phases import PhaseName, Progress
from shakedown.inventory.model import Node
from shakedown.launch.course import Way
from shakedown.launch.estimate import Left
from shakedown.launch.known import Known
from shakedown.launch.outcome import Outcome
from shakedown.launch.status import Bar, NodeStatus, Span, Status


def view(known: Known, outcome: Outcome, now: float) -> Status:
    """The status at that moment."""
    start, ways, phase = known.course.start, known.course.ways(), known.phase
    since = min((way.marks[phase] for way in ways.values() if phase in way.marks), default=None) if phase else None
    progress = start.progress if start is not None else None
    left = Left()
    if start is not None and phase is not None and since is not None:
        left = known.estimate.left(phase, now - since, now, start.version or "")
    return Status(
        deployment=known.deployment.name,
        state=outcome.state,
        settled=outcome.settled,
        updated_at=now,
        phase=phase.value if phase else "",
        began=_began(known),
        since=since,
        bar=_bar(progress, phase),
        phase_left_s=left.phase_s,
        left_s=left.all_s,
        nodes=tuple(
            _node(known, node, ways[node.name], progress if node.role == "head" else None)
            for node in known.deployment.node
        ),
        explanation=outcome.explanation,
        starts=known.starts,
        first_request_s=known.proof.took_s if known.proof is not None and known.proof.ok else None,
        notes=tuple(filter(None, (outcome.note, _unreachable_api(known)))),
    )


def _began(known: Known) -> float | None:
    """A launch of ours begins with our command: until its first line Python starts, and nobody sees that in a log."""
    if known.since is not None:
        return known.since
    return known.course.start.began_at if known.course.start is not None else None


def _node(known: Known, node: Node, way: Way, progress: Progress | None) -> NodeStatus:
    """A node; bars are those of rank 0, which is on the head."""
    seen, phase = known.nodes[node.name], way.phase
    return NodeStatus(
        name=node.name,
        role=node.role,
        phase=phase.value if phase else "",
        since=way.marks.get(phase) if phase else None,
        bar=_bar(progress, phase),
        activity=seen.activity,
        available_bytes=seen.signs.available,
        lowest_bytes=seen.signs.lowest,
        reached=seen.reached,
        why=seen.contact.why if seen.contact else "",
        missing=tuple(f"{stream} ({source}): {why}" for (stream, source), why in seen.missing.items()),
        spans=spans(way.marks),
    )


def spans(marks: Mapping[PhaseName, float]) -> tuple[Span, ...]:
    """Phases with their ends: each lasts until the next begins."""
    began = list(marks.items())
    ends = [max(at, later) for (_, at), (_, later) in pairwise(began)]
    return tuple(Span(name.value, at, end) for (name, at), end in zip_longest(began, ends))


def _bar(progress: Progress | None, phase: PhaseName | None) -> Bar | None:
    """The bar of the present phase; one of an earlier phase stands there only because nothing else is counted."""
    if progress is None or progress.phase is not phase:
        return None
    return Bar(progress.done, progress.total, progress.unit)


def _unreachable_api(known: Known) -> str:
    """The API answers and may not be asked what it serves: mostly a key that is not set here."""
    if known.healthy and known.api is not None and not known.api.models:
        return f"/health says 200, and which models are served is not known: {known.api.why}"
    return ""
