"""Settings of Ray by variables: its memory monitor and its health checks, and what a raylet wrote about the first."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from shakedown.errors import EvidenceError

MONITOR_VARIABLES = ("RAY_memory_monitor_refresh_ms", "RAY_memory_usage_threshold")
HEALTH_CHECKS = {
    "RAY_health_check_period_ms": 3000,
    "RAY_health_check_timeout_ms": 10000,
    "RAY_health_check_failure_threshold": 5,
}
DEFAULT_REFRESH_MS = 250
DEFAULT_THRESHOLD = 0.95
ROUNDING = 0.001
"""The log gives the threshold as the share that whole pages make, 95.000008 % for 0.95."""

_LINE = re.compile(
    r"MemoryMonitor (?:(?P<off>disabled)|initialized with usage threshold at (?P<bytes>\d+) bytes "
    r"\((?P<share>[\d.]+)(?P<percent>%?) (?:of )?system memory\))"
)


@dataclass(frozen=True, slots=True)
class Monitor:
    """What a raylet wrote about its memory monitor when it started.

    Attributes:
        threshold: share of memory in use at which it kills workers; None if it is disabled.
        line: the line itself.
    """

    threshold: float | None
    line: str


def parse_monitor(lines: Sequence[str]) -> Monitor:
    """Lines of ``raylet.out`` about the memory monitor -> what the last one says, in the words of Ray 2.53 or 2.60.

    Raises:
        EvidenceError: no line, or one in other words.
    """
    if not lines:
        raise EvidenceError("raylet.out does not tell whether the memory monitor is on")
    found = _LINE.search(lines[-1])
    if not found:
        raise EvidenceError(f"raylet.out tells of the memory monitor in other words: {lines[-1]!r}")
    if found["off"]:
        return Monitor(None, lines[-1])
    return Monitor(float(found["share"]) / (100 if found["percent"] else 1), lines[-1])


def monitor_setting(environment: Mapping[str, str]) -> float | None:
    """What a raylet's environment makes of its memory monitor: the threshold, or None where it is disabled.

    Ray's defaults are a look every 250 ms and a threshold of 0.95; a period of 0 disables it.
    Source: https://docs.ray.io/en/latest/ray-core/scheduling/ray-oom-prevention.html

    Raises:
        EvidenceError: a value that is no number.
    """
    try:
        refresh, threshold = MONITOR_VARIABLES
        if float(environment.get(refresh, DEFAULT_REFRESH_MS)) == 0:
            return None
        return float(environment.get(threshold, DEFAULT_THRESHOLD))
    except ValueError as error:
        raise EvidenceError(f"a variable of the memory monitor is no number: {error}") from error


def impatient(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Settings of the GCS's health checks that are stricter than Ray's own, with those.

    Source of the names and defaults: ``src/ray/common/ray_config_def.h``; a raylet has the environment of the
    `ray start` that started the GCS beside it.
    """
    return tuple(
        f"{name}={environment[name]}, by itself {default}"
        for name, default in HEALTH_CHECKS.items()
        if environment.get(name, "").isdecimal() and int(environment[name]) < default
    )


def same_threshold(one: float | None, other: float | None) -> bool:
    """Whether two settings of the memory monitor are one: both disabled, or equal but for rounding."""
    if one is None or other is None:
        return one is other
    return abs(one - other) < ROUNDING
