"""All named faults."""

from __future__ import annotations

from shakedown.simulator.faults.base import Fault

FAULTS: dict[str, type[Fault]] = {}


def fault_named(name: str | None) -> Fault:
    """The fault of that name; a healthy server for none.

    Raises:
        KeyError: unknown.
    """
    return FAULTS[name]() if name else Fault()
