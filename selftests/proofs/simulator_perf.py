"""Faults of speed, as the simulator shows them: each makes its check fail against a record of the healthy simulator."""

from __future__ import annotations

from selftests.proofs.model import Fault


def perf(name: str, check: str, companions: dict[str, str]) -> Fault:
    """A fault of the simulator under the perf suite, after a clean run has been recorded as baseline."""
    return Fault(name, "simulator", check, companions, suite="perf", baseline=True)


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
)
"""PF-05 is about the log of a real start: a slow load of the embedded deployment, or a changed log in a bundle."""
