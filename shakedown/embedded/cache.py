"""What vLLM finds out about a model class, kept from one deployment to the next.

vLLM imports the class in a process of its own to learn about it, which takes 4 to 9 s of a start, and keeps the answer
under ``~/.cache``. The home of a node ends with it, so the answer is kept beside the engine that gave it; `node.sh`
lays it into new nodes. vLLM itself compares it with the source of the class.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from shakedown.embedded.engine import install
from shakedown.embedded.node import OWN, RunningNode

FOLDER = "shakedown-cache"  # node.sh knows it too
_ANSWERS = Path("vllm/modelinfos")


def keep(head: RunningNode, engine: Path) -> None:
    """Copy what is known after a start into the engine's folder; only into one that we made, and may write to."""
    found = head.file(OWN / "home/.cache") / _ANSWERS
    if not (engine / install.STAMP).exists() or not found.is_dir():
        return
    try:
        shutil.copytree(found, engine / FOLDER / _ANSWERS, dirs_exist_ok=True)
    except (PermissionError, shutil.Error):
        return  # another user's engine; the next start takes as long as this one
