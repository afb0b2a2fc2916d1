"""Lines of logs by the fault that they tell of: id, log and line, from `samples.toml`."""

from __future__ import annotations

import tomllib
from pathlib import Path

_BY_ID = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))

SAMPLES: tuple[tuple[str, str, str], ...] = tuple(
    (id, stream, text) for id, lines in _BY_ID.items() for stream, text in lines
)
