"""Logs of real launches of the embedded deployment, every line of all nodes with the time at which it was written.

`python -m selftests.faults.launches.recorded NAME FOLDER` records one, from the logs that a failed start leaves in
`reports/runs` or from a copy of a node's logs, with a folder for each node in it.
"""

from __future__ import annotations

import gzip
import json
import re
import sys
from collections.abc import Iterator
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

from shakedown.faults.lines import LogLine

FOLDER = Path(__file__).parent
NAMES = tuple(sorted(file.name.removesuffix(".jsonl.gz") for file in FOLDER.glob("*.jsonl.gz")))

_STREAMS = {
    "vllm-serve.log": "serve log",
    "raylet.out": "raylet.out",
    "raylet.err": "raylet.err",
    "gcs_server.out": "gcs_server.out",
}
_STAMP = re.compile(r"\b(?:(?P<year>\d{4})-)?(?P<rest>\d\d-\d\d \d\d:\d\d:\d\d)(?:,(?P<ms>\d{3}))?")
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def launch(name: str) -> list[LogLine]:
    """The lines of a recorded launch, log by log."""
    with gzip.open(FOLDER / f"{name}.jsonl.gz", "rt", encoding="utf-8") as file:
        return [LogLine(**json.loads(line)) for line in file]


def _record(name: str, folder: Path) -> None:
    lines = [line for node in sorted(folder.iterdir()) for line in _of_node(node)]
    text = "".join(json.dumps(asdict(line)) + "\n" for line in lines)
    (FOLDER / f"{name}.jsonl.gz").write_bytes(gzip.compress(text.encode(), mtime=0))


def _of_node(folder: Path) -> Iterator[LogLine]:
    for file in sorted(folder.rglob("*")):
        stream = _STREAMS.get(file.name, "Ray worker logs" if re.match(r"worker-.*\.(err|out)$", file.name) else None)
        if stream and file.is_file():
            yield from _of_file(file, folder.name, stream)


def _of_file(file: Path, node: str, stream: str) -> Iterator[LogLine]:
    lines = _COLOUR.sub("", file.read_text(encoding="utf-8", errors="replace")).splitlines()
    at = next(filter(None, map(_written, lines)), 0.0)
    for text in lines:
        at = _written(text) or at
        yield LogLine(node, stream, file.name, at, re.sub(r"/root/\.pyenv/versions/[\d.]+", "/usr", text))


def _written(text: str) -> float | None:
    found = _STAMP.search(text[:120])
    if found is None:
        return None
    year = found["year"] or datetime.now(UTC).year
    whole = datetime.strptime(f"{year}-{found['rest']}", "%Y-%m-%d %H:%M:%S").replace(tzinfo=UTC)
    return whole.timestamp() + int(found["ms"] or 0) / 1000


if __name__ == "__main__":
    _record(sys.argv[1], Path(sys.argv[2]))
