"""Exit codes of a launch: one for each family of faults, so that a script can tell them apart without reading.

None collides with pytest's own (0 to 5), with those of ssh and of the shell (126 and above), or with one another.
"""

from __future__ import annotations

READY = 0
"""A token was generated."""

OF_FAMILY = {
    "MEM": 10,
    "RAY": 11,
    "NET": 12,
    "MOD": 13,
    "ENV": 14,
    "PLT": 15,
    "SRV": 16,
}
"""A crash whose fault is in the catalogue, by the letters of its id: memory, Ray, network, model files, environment,
machine, serving process."""

STALL = 20
"""Nothing moves any more, and no log says why."""

UNKNOWN = 21
"""A crash that the catalogue does not know."""

ENDED = 22
"""The server was stopped on purpose, or there is none to follow."""

DEADLINE = 23
"""Neither ready nor failed when the time given was up."""

GATE = 24
"""The infra checks before a stage were not passed, and none of them says why in an id: pytest itself came to grief."""


def exit_code(fault: str | None) -> int:
    """The exit code of a launch that failed with a fault.

    Args:
        fault: id in the catalogue, None for a crash that is not in it.
    """
    return OF_FAMILY.get(fault.split("-")[0], UNKNOWN) if fault else UNKNOWN
