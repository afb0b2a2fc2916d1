"""The start of the served model as metrics: how long it took in all, and each phase."""

from __future__ import annotations

from shakedown.engines.vllm.phases import Start
from shakedown.load.metrics import Metrics
from shakedown.outcomes import Metric

SCENARIO = "cold-start"
TOTAL = "total_s"


def start_metrics(start: Start) -> Metrics:
    """``total_s`` and ``phase_NAME_s`` for every phase that showed itself in the log, s.

    From the first line of the log to the line that says the API answers: starting Python and importing the engine
    (some seconds) come before, the first request comes after. Stamps have a resolution of one second.
    """
    total = start.total_s
    metrics = [Metric(TOTAL, total, "s", "lower", 1, "" if total is not None else "the start never ended")]
    metrics += [
        Metric(f"phase_{phase.name.name.lower()}_s", phase.took_s, "s", "none", 1, phase.name.value)
        for phase in start.phases
        if phase.took_s is not None
    ]
    return {metric.name: metric for metric in metrics}


def phases_text(start: Start) -> str:
    """One line for people: ``weights 500 s, KV cache 1 s``; only what took time."""
    took = [(phase.name.value, phase.took_s) for phase in start.phases if phase.took_s]
    return ", ".join(f"{name} {seconds:.0f} s" for name, seconds in took) or "no phase took a second"
