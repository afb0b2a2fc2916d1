"""Lines made for the tests of the diagnosis, and what it tells of them."""

from __future__ import annotations

from collections.abc import Iterable

from shakedown.faults.diagnose import Diagnostician
from shakedown.faults.diagnosis import Diagnosis
from shakedown.faults.lines import LogLine

NOW = 1_796_127_600.0
LATER = NOW + 1000

KILLED = "1 worker(s) were killed due to the node running low on memory."
DEAD = "RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {}"
DIED = "ray.exceptions.ActorDiedError: The actor died unexpectedly before finishing this task."
LOW = "ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization`"
OOM = "Out of memory: Killed process 4242 (VLLM::Worker_TP) total-vm:1kB"


def line(at: float, said: str, node: str = "node-a", stream: str = "serve log") -> LogLine:
    return LogLine(node, stream, f"/logs/{stream}", NOW + at, said)


def told(lines: Iterable[LogLine], now: float = LATER, **options: bool) -> Diagnosis | None:
    diagnostician = Diagnostician()
    for one in lines:
        diagnostician.feed(one)
    return diagnostician.verdict(now, **options)


def fault(lines: Iterable[LogLine], now: float = LATER, **options: bool) -> str | None:
    found = told(lines, now, **options)
    return found.fault if found else None


def traceback(at: float, exception: str, prefix: str = "", node: str = "node-a") -> list[LogLine]:
    frames = (
        "Traceback (most recent call last):",
        '  File "x.py", line 1, in run',
        "    run()",
        "    ^^^^^",
        exception,
    )
    return [line(at, prefix + frame, node) for frame in frames]
