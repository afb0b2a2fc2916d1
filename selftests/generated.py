"""Pages that are generated and committed: written by `make docs`, compared by `make lint`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path


def write_or_compare(page: Path, current: str, arguments: Sequence[str], remedy: str = "run `make docs`") -> str | None:
    """Write the page, or with ``--check`` compare it.

    Returns:
        What is wrong, as `sys.exit` takes it; None where nothing is.
    """
    if "--check" not in arguments:
        page.write_text(current, encoding="utf-8")
        return None
    if page.is_file() and page.read_text(encoding="utf-8") == current:
        return None
    return f"docs/{page.name} is out of date: {remedy}"
