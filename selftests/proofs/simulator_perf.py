"""Faults of speed: each makes its check fail against a record of the healthy deployment.

Those of a served model are the simulator's; that of its start is told by a recorded log.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta

from selftests.proofs.model import Fault
from shakedown.nodes.evidence import Evidence

HEAD = "node-a"
SERVE_LOG = "lines of the serve log"
LONGER_S = 120


def perf(name: str, check: str, companions: dict[str, str]) -> Fault:
    """A fault of the simulator under the perf suite, after a clean run has been recorded as baseline."""
    return Fault(name, "simulator", check, companions, suite="perf", baseline=True)


def weights_took_longer(evidence: Evidence) -> None:
    """Everything from the end of the loading on happened two minutes later, as with a page cache under pressure."""

    def edited(log: str) -> str:
        before, loaded, after = log.partition("Loading weights took")
        start = before.rfind("\n") + 1
        return before[:start] + _later(before[start:] + loaded + after)

    evidence.change(HEAD, SERVE_LOG, edited)


def _later(log: str) -> str:
    def moved(stamp: re.Match[str]) -> str:
        at = datetime.strptime(f"2000-{stamp[0]}", "%Y-%m-%d %H:%M:%S") + timedelta(seconds=LONGER_S)  # noqa: DTZ007
        return at.strftime("%m-%d %H:%M:%S")

    return re.sub(r"\b\d\d-\d\d \d\d:\d\d:\d\d\b", moved, log)


RATE = "at a fixed number of users the rate is the inverse of the time that a request takes"

FAULTS: tuple[Fault, ...] = (
    perf("errors-under-load", "PF-01", {}),
    perf("slow-first-token", "PF-02", {"PF-04": RATE}),
    perf("slow-decode", "PF-03", {"PF-04": RATE}),
    perf("late-end", "PF-04", {}),
    perf(
        "one-at-a-time",
        "PF-06",
        {"PF-02": "the wait for the requests before it is part of the time to the first token", "PF-04": RATE},
    ),
    perf(
        "stall-under-concurrency",
        "PF-07",
        {
            "PF-03": "the stall lies between the first and the last token, over which the time per token is taken",
            "PF-04": RATE,
            "PF-06": "only four streams stall, one alone does not",
        },
    ),
    Fault(
        "weights-took-longer",
        "bundle",
        "PF-05",
        suite="perf",
        inject=weights_took_longer,
        options=("-k", "test_cold_start"),
        baseline=True,
    ),
)
"""The record must be made first, by the same run without the fault and with ``--record-baseline``; a recorded bundle
answers no request, so only the check of the start is run on it."""
