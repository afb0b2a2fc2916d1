"""Units in which people read amounts of memory."""

from __future__ import annotations

GIB = 1024**3


def gib(amount: float) -> str:
    """Bytes as people read them: ``121.7 GiB``."""
    return f"{amount / GIB:.1f} GiB"
