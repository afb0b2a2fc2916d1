"""A simulator for as long as a block lasts."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from shakedown.errors import LaunchError

_ROOT = Path(__file__).parents[2]
_END_S = 5.0


@dataclass(frozen=True, slots=True)
class Running:
    """A simulator that is ready.

    Attributes:
        base_url: without ``/v1``.
        pid: of its process.
    """

    base_url: str
    pid: int


@contextmanager
def running_simulator(
    *,
    fault: str | None = None,
    ttft_s: float | None = None,
    itl_s: float | None = None,
    tokens_per_chunk: int | None = None,
    max_concurrency: int | None = None,
    max_model_len: int | None = None,
    served_name: str | None = None,
    api_key: str | None = None,
    model: Path | None = None,
) -> Iterator[Running]:
    """Start a simulator in a process of its own, end it with the block; left-out settings take their defaults.

    The process ends too when this one dies, however it dies: it holds the other end of a pipe.

    Raises:
        LaunchError: it did not start; carries what it said.
    """
    options = {
        "--fault": fault,
        "--ttft": ttft_s,
        "--itl": itl_s,
        "--tokens-per-chunk": tokens_per_chunk,
        "--max-concurrency": max_concurrency,
        "--max-model-len": max_model_len,
        "--served-name": served_name,
        "--api-key": api_key,
        "--model": model,
    }
    given = [text for name, value in options.items() if value is not None for text in (name, str(value))]
    command = [sys.executable, "-m", "shakedown.simulator", "--owned", *given]
    with tempfile.TemporaryFile("w+") as complaints:  # a pipe that nobody reads would fill up and stop the simulator
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=complaints, text=True, cwd=_ROOT
        )
        try:
            yield _ready(process, complaints)
        finally:
            _end(process)


def _ready(process: subprocess.Popen[str], complaints: IO[str]) -> Running:
    """Wait for the line that says where it is; the pipe closes if it never comes."""
    assert process.stdout is not None
    line = process.stdout.readline()
    if not line:
        complaints.seek(0)
        raise LaunchError(f"the simulator did not start:\n{complaints.read().strip()}")
    said = json.loads(line)
    return Running(said["base_url"], said["pid"])


def _end(process: subprocess.Popen[str]) -> None:
    """Close its standard input, which ends it; kill it if it does not obey."""
    if process.stdin is not None:
        process.stdin.close()
    try:
        process.wait(_END_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    if process.stdout is not None:
        process.stdout.close()
