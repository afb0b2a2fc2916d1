"""Files that are there whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def write_atomically(path: Path, text: str, *, durable: bool = True) -> None:
    """Write UTF-8 text so that a reader, or a kill at any moment, finds the old content or the new one.

    Args:
        path: the file.
        text: its new content.
        durable: also survive a loss of power from now on, which waits for the disk.

    Raises:
        OSError: the folder does not exist or cannot be written; nothing is left behind.
    """
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            if durable:
                os.fsync(file.fileno())
        temporary.chmod(0o644)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
