"""The folder of this process's multiplexed ssh connections: private, short, and gone when the process ends."""

from __future__ import annotations

import atexit
import hashlib
import shutil
import subprocess
import tempfile
import threading
from functools import cache
from pathlib import Path

NAME_LENGTH = 16
LONGEST = 104 - 1 - NAME_LENGTH - 18
"""A socket's path holds at most 104 bytes on some systems; ssh adds 18 characters to it while it connects."""

CLOSE_TIMEOUT_S = 5.0

_ONE_FOLDER = threading.Lock()
"""Nodes are asked side by side, and the first of them makes the folder for all."""


def control_path(destination: str, config: str | None) -> str:
    """Value of ssh's ``ControlPath``: one socket per destination and configuration in the folder of this process.

    ssh's own ``%C`` knows nothing of a proxy command: two machines with one private address behind different proxies
    would share a connection, and one would answer for the other.
    """
    way = f"{config or ''}\0{destination}".encode()
    with _ONE_FOLDER:
        folder = _folder()
    return str(folder / hashlib.sha256(way).hexdigest()[:NAME_LENGTH])


@cache
def _folder() -> Path:
    usual = tempfile.gettempdir()
    base = usual if len(usual) + len("/sd-12345678") <= LONGEST else "/tmp"  # noqa: S108 - mkdtemp makes it private
    folder = Path(tempfile.mkdtemp(prefix="sd-", dir=base))
    atexit.register(_close, folder)
    return folder


def _close(folder: Path) -> None:
    """Ask every connection to end, then remove the folder; one that was cut by the network is gone anyway."""
    for socket in folder.iterdir():
        try:
            subprocess.run(
                ["ssh", "-o", f"ControlPath={socket}", "-O", "exit", "shakedown"],
                capture_output=True,
                timeout=CLOSE_TIMEOUT_S,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired):
            continue
    shutil.rmtree(folder, ignore_errors=True)
