"""Waiting with an end."""

from __future__ import annotations

import time
from collections.abc import Callable

from shakedown.errors import LaunchError


def wait_until(holds: Callable[[], bool], deadline_s: float, what: str, every_s: float = 0.05) -> None:
    """Ask again and again until something holds.

    Args:
        holds: what is asked.
        deadline_s: how long, seconds.
        what: what it is, for the error.
        every_s: pause between two questions, seconds.

    Raises:
        LaunchError: it did not hold in time.
    """
    end = time.monotonic() + deadline_s
    while not holds():
        if time.monotonic() > end:
            raise LaunchError(f"waited {deadline_s:g} s in vain: {what}")
        time.sleep(every_s)
