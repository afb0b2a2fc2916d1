# revision: 1
"""Runs the script that is its first argument as the user who starts the engine, where `sudo` made it root.

Root may read and write everything, and has caches of its own: what it sees says nothing about the engine. The user is
that of the raylet, whose ranks the engine is; where none runs, the one for whom `sudo` works.
"""

from __future__ import annotations

import os
import pwd
import sys
from collections.abc import Mapping
from pathlib import Path

PROC = Path("/proc")
PLACES = ("HOME", "XDG_CACHE_HOME", "VLLM_CACHE_ROOT")
"""Variables that say where the engine has its caches."""


def raylet() -> Path | None:
    """The folder in /proc of a raylet; None where none runs. One that sees other files, in a container, is none."""
    files = mounts(PROC / "self")
    for folder in PROC.glob("[0-9]*"):
        try:
            if (folder / "comm").read_text().strip() == "raylet" and mounts(folder) == files:
                return folder
        except OSError:
            continue
    return None


def mounts(process: Path) -> str:
    """The mount namespace of a process."""
    return os.readlink(process / "ns" / "mnt")  # noqa: PTH115 - Python 3.8 has no Path.readlink


def environment(process: Path) -> dict[str, str]:
    """The variables of a process that say where caches are."""
    pairs = (pair.partition("=") for pair in (process / "environ").read_text(errors="replace").split("\0"))
    return {name: value for name, _, value in pairs if name in PLACES}


def engine_user(caller: int) -> tuple[int, dict[str, str]]:
    """Number of the user who starts the engine, and where its caches are, as far as that is told."""
    process = raylet()
    if process is None:
        return caller, {}
    return process.stat().st_uid, environment(process)


def become(user: int, places: Mapping[str, str]) -> None:
    """Go on as another user."""
    entry = pwd.getpwuid(user)
    os.initgroups(entry.pw_name, entry.pw_gid)
    os.setgid(entry.pw_gid)
    os.setuid(user)
    os.environ.update({"HOME": entry.pw_dir, **places})


def main() -> None:
    """Become that user, and run the script."""
    source = sys.argv.pop(1)
    caller = os.environ.get("SUDO_UID")
    if os.getuid() == 0 and caller:
        become(*engine_user(int(caller)))
    exec(compile(source, "<script>", "exec", dont_inherit=True), {"__name__": "__main__"})  # noqa: S102 - ours


if __name__ == "__main__":
    main()
