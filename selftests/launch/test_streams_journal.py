"""Where the kernel's log is for root alone, the journal may tell it; where that is closed, too, this is told."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from selftests.nodes.machines import eventually
from shakedown.launch.scripts import kernel
from shakedown.launch.scripts.sieve import Sieve


class Kept:
    """A channel that keeps what is sent."""

    def __init__(self) -> None:
        self.sent: list[dict[str, Any]] = []

    def send(self, kind: str, **values: Any) -> None:
        self.sent.append({"k": kind, **values})


@pytest.fixture
def journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program of that name, and no device to read."""
    program = tmp_path / "journalctl"
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr(kernel, "DEVICE", str(tmp_path / "kmsg"))
    return program


def frames(program: Path, text: str, count: int, position: dict[str, Any] | None = None) -> list[dict[str, Any]]:
    """What is sent where the program is that shell script."""
    program.write_text(f"#!/bin/sh\n{text}\n")
    program.chmod(0o755)
    kept = Kept()
    source = kernel.Kernel(kept, Sieve([], None), position)  # type: ignore[arg-type]
    try:
        eventually(lambda: bool(source.poll(time.monotonic()) or len(kept.sent) >= count), f"{count} frames")
    finally:
        source.close()
    return kept.sent


def test_the_journal_tells_lines_with_their_times(journal: Path) -> None:
    said = "echo '-- Boot 1 --'; echo '1796126400.250000 node kernel: Out of memory: Killed process 7'; exec sleep 60"
    opened, rows = frames(journal, said, 2)
    assert (opened["f"], opened["why"]) == (kernel.JOURNAL, None)
    assert rows["rows"] == [(1796126400.25, "Out of memory: Killed process 7")]
    assert rows["pos"] == {"at": 1796126400.25}


def test_the_journal_goes_on_after_what_is_known(journal: Path) -> None:
    said = "echo \"$*\" > $0.asked; echo '10.5 n kernel: known'; echo '11.5 n kernel: new'; exec sleep 60"
    _, rows = frames(journal, said, 2, {"at": 10.5})
    assert rows["rows"] == [(11.5, "new")]
    assert "--since=@10.500000" in Path(f"{journal}.asked").read_text()


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (
            "echo 'Hint: You are currently not seeing messages from other users and the system.'; exec sleep 60",
            "not seeing messages",
        ),
        ("echo 'No journal files were opened due to insufficient permissions.'", "insufficient permissions"),
    ],
)
def test_a_closed_journal_is_told(journal: Path, said: str, why: str) -> None:
    told = [frame["why"] for frame in frames(journal, said, 2)]
    assert told[0] is None
    assert told[1].startswith(f"{kernel.DEVICE}: No such file or directory; and the journal: ")
    assert why in told[1]


def test_a_machine_without_a_journal_is_told(journal: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(journal.parent / "empty"))
    (told,) = frames(journal, "", 1)
    assert told["why"].endswith("and the journal: No such file or directory")
