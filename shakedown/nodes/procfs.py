"""Processes found by name with nothing but the shell: an image of an engine need not have ``pgrep``."""

from __future__ import annotations

import shlex
from collections.abc import Sequence


def each_process(names: Sequence[str], body: str) -> str:
    """A script that runs ``body`` for every process of one of these names.

    Args:
        names: as in ``/proc/PID/comm``, which the kernel cuts after 15 characters.
        body: shell commands, to which ``$process`` is the process's folder in ``/proc``, ``$pid`` its number and
            ``$name`` its name.
    """
    wanted = " | ".join(shlex.quote(name) for name in names)
    return f"""
for process in /proc/[0-9]*; do
    {{ read -r name <"$process/comm"; }} 2>/dev/null || continue
    case $name in {wanted}) ;; *) continue ;; esac
    pid=${{process#/proc/}}
    {body.strip()}
done
"""
