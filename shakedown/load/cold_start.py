"""The start of the served model as metrics: how long it took in all, and each phase."""

from __future__ import annotations

from shakedown.engines.vllm.phases import PhaseName, Start
from shakedown.load.metrics import Metrics
from shakedown.outcomes import Metric

SCENARIO = "cold-start"
TOTAL = "total_s"


def start_metrics(start: Start) -> Metrics:
    """``total_s`` and ``phase_NAME_s`` for every phase that there is, s.

    From the first line of the log to the line that says the API answers: starting Python and importing the engine
    (some seconds) come before, the first request comes after. Stamps have a resolution of one second.
    """
    total = start.total_s
    shown = {phase.name: phase.took_s for phase in start.phases}
    metrics = [Metric(TOTAL, total, "s", "lower", 1, "" if total is not None else "the start never ended")]
    metrics += [phase_metric(name, shown.get(name)) for name in PhaseName if name is not PhaseName.READY]
    return {metric.name: metric for metric in metrics}


def phase_metric(name: PhaseName, took_s: float | None) -> Metric:
    """How long a phase took; None where it did not show itself, as compilation does not in eager mode."""
    note = name.value if took_s is not None else "it did not show itself"
    return Metric(f"phase_{name.name.lower()}_s", took_s, "s", "none", 1, note)


def phases_text(start: Start) -> str:
    """One line for people: ``weights 500 s, KV cache 1 s``; only what took time."""
    took = [(phase.name.value, phase.took_s) for phase in start.phases if phase.took_s]
    return ", ".join(f"{name} {seconds:.0f} s" for name, seconds in took) or "no phase took a second"
