"""The logs inside a deployment: followed while it starts, kept when it does not start."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from shakedown.embedded.node import LOGS, RunningNode
from shakedown.engines.vllm.phases import PhaseReader, Splitter
from shakedown.errors import LaunchError

KEPT = Path(__file__).parent.parent.parent / "reports" / "runs"
"""The suite's own, whatever ``--reports`` says: a deployment may be brought up outside of any run."""

_RAY = Path("/tmp/ray")  # noqa: S108 - of the node


class Follower:
    """Reads a growing log of vLLM and says where the start is."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._read = 0
        self._lines = Splitter()
        self._reader = PhaseReader()

    def now(self) -> str:
        """The phase that was entered last, with what is counted in it so far."""
        if self._path.exists():
            with self._path.open("rb") as file:
                file.seek(self._read)
                data = file.read()
            self._read += len(data)
            for line in self._lines.feed(data):
                self._reader.feed(line, time.time())
        start = self._reader.start
        if start is None or start.now is None:
            return "imports"
        counted = start.progress
        if counted is None:
            return start.now.name.value
        return f"{counted.phase.value}, {counted.done} of {counted.total} {counted.unit}"


@contextmanager
def kept_when_failing(nodes: tuple[RunningNode, ...]) -> Iterator[None]:
    """Copy the logs of the nodes, which end with them, when the block raises `LaunchError`; the error then says where.

    Raises:
        LaunchError: the one that the block raised, with the folder named.
    """
    try:
        yield
    except LaunchError as error:
        folder = KEPT / f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-embedded-failed-start"
        try:
            for node in nodes:
                keep(node, folder / node.name)
            kept = f"all logs, in the suite's own folder whatever --reports says: {folder}"
        except OSError as reason:
            kept = f"the logs could not be kept: {reason}"
        raise LaunchError(f"{error}\n{kept}") from error


def keep(node: RunningNode, folder: Path) -> None:
    """Copy the logs of one node: the API server's, and those of every Ray session."""
    folder.mkdir(parents=True, exist_ok=True)
    if not node.process.alive():
        return
    for log in node.file(LOGS).glob("*.log"):
        shutil.copyfile(log, folder / log.name)
    for session in node.file(_RAY).glob("session_2*"):  # not session_latest: its target would be looked for out here
        shutil.copytree(session / "logs", folder / session.name, symlinks=True, dirs_exist_ok=True)
