"""A program that calls itself docker and speaks otherwise is told, and does not end what else is followed there."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from selftests.launch.test_streams_journal import Kept
from selftests.nodes.machines import eventually
from shakedown.launch.scripts.docker import Container

PLAIN = '{"Status":"running","Running":true,"StartedAt":"2026-12-01T12:00:00Z"}'
EVENT = '{"Action":"die","Actor":{"Attributes":{"exitCode":"137"}},"timeNano":1796126400500000000}'


def frames(folder: Path, patch: pytest.MonkeyPatch, *, events: str, state: str, count: int) -> list[dict[str, Any]]:
    """What is sent where docker answers so."""
    program = folder / "docker"
    program.write_text(
        f"#!/bin/sh\ncase $1 in events) echo '{events}'; exec sleep 60 ;; inspect) echo '{state}' ;; esac\n"
    )
    program.chmod(0o755)
    patch.setenv("PATH", str(folder), prepend=":")
    kept = Kept()
    container = Container(kept, "engine", {"at": 0.0})  # type: ignore[arg-type]
    try:
        eventually(lambda: bool(container.poll(time.monotonic()) or len(kept.sent) >= count), f"{count} frames")
    finally:
        container.close()
    return kept.sent


def test_events_and_state_are_told_in_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sent = frames(tmp_path, monkeypatch, events=EVENT, state=PLAIN, count=4)
    died, running = [row for frame in sent if frame["k"] == "rows" for row in frame["rows"]]
    assert died == [pytest.approx(1796126400.5, abs=1e-3), "container engine: die, exit code 137"]
    assert running[1] == "container engine: status running, started 2026-12-01T12:00:00Z"


@pytest.mark.parametrize("answer", ['{"Name":"engine","Status":"died"}', '{"Action":', '{"timeNano":"x"}'])
def test_what_is_not_understood_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: str) -> None:
    sent = frames(tmp_path, monkeypatch, events=answer, state=answer, count=3)
    whys = {frame["f"]: frame["why"] for frame in sent if frame["why"]}
    assert whys == {f"docker {what} engine": f"not understood: {answer}" for what in ("events", "inspect")}
