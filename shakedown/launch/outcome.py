"""What has become of a launch, from all that a watch has seen: the rules, in the order in which they hold."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from ipaddress import IPv4Address
from urllib.parse import urlsplit

from shakedown.engines.vllm.phases import PhaseName
from shakedown.launch.events import Counter
from shakedown.launch.explain import of_cause, of_diagnosis
from shakedown.launch.known import Known
from shakedown.launch.placement import unplaced
from shakedown.launch.silence import Silence
from shakedown.launch.stall import Cause, cause_of
from shakedown.launch.status import Explanation, State
from shakedown.units import gib

ABSENT_S = 15.0
"""After so long a server that was started is seen: its process is there within a second or two."""

UNHEARD_S = 90.0
"""After so long it has written a line: it imports for 5 to 20 s, from a cold or a network disk for a minute."""

_UNSEEN = "no process of a server is seen yet, and no line of its log tells of a start; --deadline ends the waiting"
_UNHEARD = "a server runs, and nothing that its log says is known: does it write where [serve].log says?"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What has become of it.

    Attributes:
        state: in one word.
        settled: it stays so.
        explanation: why it failed or stands still.
        note: what else is to be said.
    """

    state: State
    settled: bool = False
    explanation: Explanation | None = None
    note: str = ""


def judged(known: Known, now: float) -> Outcome:
    """The outcome by now."""
    return (
        _by_api(known, now)
        or _by_failure(known, now)
        or _by_stop(known, now)
        or _by_absence(known, now)
        or _by_standstill(known, now)
        or _by_life(known, now)
    )


def _by_api(known: Known, now: float) -> Outcome | None:
    """A server that generates is ready, whatever its log has told on the way."""
    head = known.deployment.head.name
    if known.proof is not None and known.proof.ok:
        return Outcome(State.READY, settled=True)
    if known.proof is not None:
        cause = Cause("SRV-06", head, f"/health says 200, and no token was generated: {known.proof.why}")
        return _failed(known, cause, now)
    if known.answers:
        return Outcome(State.RUNNING, note="the API answers; a token is asked for")
    if known.healthy and known.api is not None and known.api.models:
        served = ", ".join(known.api.models)
        cause = Cause("SRV-09", head, f"the server lists {served}, not {known.deployment.model.served_name}")
        return _failed(known, cause, now)
    return None


def _by_failure(known: Known, now: float) -> Outcome | None:
    diagnosis = known.evidence.verdict(now, failed=known.restarted)
    if diagnosis is not None and (
        known.course.start is not None or known.since is not None or _recent(known, diagnosis.line.at)
    ):
        return Outcome(State.FAILED, diagnosis.settled or known.restarted, of_diagnosis(diagnosis))
    if known.restarted:
        cause = Cause(
            "SRV-11",
            known.deployment.head.name,
            "the server was started again, and no log says why the one before ended",
        )
        return _failed(known, cause, now)
    return None


def _by_stop(known: Known, now: float) -> Outcome | None:
    stopped = known.evidence.stopped_at
    if stopped is None or known.since is not None or known.head.lives.has("server"):
        return None
    if now - stopped < known.limits.settle_s:
        return None
    return Outcome(
        State.ENDED, settled=True, note="the server was stopped before it was ready, on purpose as its log has it"
    )


def _by_absence(known: Known, now: float) -> Outcome | None:
    """A command of ours has ended well, and what it starts is not there; an own command may still pull an image."""
    own = known.deployment.launch is not None and known.deployment.launch.serve is not None
    head, looked = known.head, known.head.signs.seen_at(Counter.CPU)
    if own or known.since is None or known.course.start is not None or head.lives.has("server"):
        return None
    if looked is None or now - looked > known.limits.sampled_s or not _seen_for(known, ABSENT_S, looked):
        return None
    name = known.deployment.head.name
    found = f"no API server runs on {name}, though the command that starts it has ended well"
    return _failed(known, Cause(None, name, found, known.evidence.last_lines([name])), now)


def _by_standstill(known: Known, now: float) -> Outcome | None:
    halted = [
        (name, kind, pid)
        for name, seen in known.nodes.items()
        for kind, pid in seen.lives.stopped(now, known.limits.stopped_s)
    ]
    if halted:
        told = "; ".join(f"the {kind} on {name} (process {pid})" for name, kind, pid in halted)
        cause = Cause(None, halted[0][0], f"stopped, state T, by SIGSTOP or a debugger: {told}")
        explanation = of_cause(
            known.deployment, cause, at=now, title="a process is stopped, and the others wait for it"
        )
        resume = "\n".join(f"kill -CONT {pid}      # on {name}" for name, _, pid in halted)
        return Outcome(State.STALLED, explanation=replace(explanation, remedy=resume))
    if known.silence is None:
        return None
    if not known.gathered:
        return Outcome(State.STALLED, note=f"{_silent(known.silence, now)}; the nodes are asked why")
    return Outcome(State.STALLED, explanation=_standstill(known, known.silence, now))


def _by_life(known: Known, now: float) -> Outcome:
    blind = known.course.start is None and _seen_for(known, UNHEARD_S, now)
    if known.head.lives.has("server") or _recent(known, known.progressed, later=True):
        return Outcome(State.RUNNING, note=_UNHEARD if blind else "")
    seen = known.head.lives.alive is not None
    if known.since is not None or not seen or known.first_event is None:
        waits = known.course.start is None
        return Outcome(State.WAITING if waits else State.RUNNING, note=_UNSEEN if blind and known.since else "")
    if now - known.first_event < known.limits.settle_s:
        return Outcome(State.WAITING)
    return Outcome(
        State.ENDED, settled=True, note="nothing to watch: no server runs on the head, and none is being started"
    )


def _standstill(known: Known, silence: Silence, now: float) -> Explanation:
    cause = _cause(known, silence)
    title = f"nothing moves in the phase '{silence.phase.value}'"
    explanation = of_cause(known.deployment, cause, at=silence.since, title=title)
    more = (*_counters(known), *known.evidence.last_lines(known.nodes))
    return replace(
        explanation,
        stream="silence",
        line=f"{_silent(silence, now)}; {cause.found}",
        evidence=(*explanation.evidence, *more),
    )


def _silent(silence: Silence, now: float) -> str:
    spun = ", though a processor is used or lines are written" if silence.spinning else ""
    lasted = f"{now - silence.since:.0f} s (limit {silence.limit_s:.0f} s)"
    return f"'{silence.phase.value}' has made no progress for {lasted}{spun}"


def _cause(known: Known, silence: Silence) -> Cause:
    """What the nodes say, else what a line says that is no failure by itself, else what is usual."""
    if silence.phase.order >= PhaseName.API.order and known.api is not None:
        url = known.deployment.serve.base_url
        return Cause(
            "SRV-06", known.deployment.head.name, f"{url}, asked from this machine: {known.api.why or known.api.health}"
        )
    gathered = tuple(known.gathered.values())
    cause = cause_of(known.deployment, silence.phase, gathered, _meeting(known))
    if cause.node is not None:
        return cause
    if silence.phase is PhaseName.RAY and (missing := unplaced(known.deployment, gathered)):
        return replace(missing, evidence=missing.evidence + cause.evidence)
    diagnosis = known.evidence.verdict(silence.since, failed=True)
    if diagnosis is None or diagnosis.kind == "unknown":
        return cause
    return Cause(diagnosis.fault, diagnosis.node, diagnosis.line.text.strip(), cause.evidence)


def _meeting(known: Known) -> IPv4Address | None:
    start = known.course.start
    try:
        return IPv4Address(urlsplit(start.facts.init_method or "").hostname or "") if start else None
    except ValueError:
        return None


def _counters(known: Known) -> Iterator[str]:
    for name, seen in known.nodes.items():
        if not seen.reached:
            yield f"{name}: not reached"
            continue
        memory = f", {gib(seen.signs.available)} available" if seen.signs.available is not None else ""
        yield f"{name}: {seen.activity or 'no counter moves'}{memory}"


def _failed(known: Known, cause: Cause, now: float) -> Outcome:
    return Outcome(State.FAILED, settled=True, explanation=of_cause(known.deployment, cause, at=now, title=cause.found))


def _seen_for(known: Known, seconds: float, now: float) -> bool:
    return known.first_event is not None and now - known.first_event >= seconds


def _recent(known: Known, at: float, *, later: bool = False) -> bool:
    """Whether it was after the watch began to see."""
    first = known.first_event
    return first is not None and (at > first if later else at >= first)
