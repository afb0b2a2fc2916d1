"""What is recorded of a deployment, and whom `down` ends: never a process that only has the same number."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from shakedown.embedded import state
from shakedown.embedded.processes import Process, find, kill, myself
from shakedown.embedded.state import Record, StateFolder
from shakedown.errors import LaunchError, MissingPrerequisiteError
from shakedown.outcomes import Stage


@pytest.fixture(autouse=True)
def runtime(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    return tmp_path


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(["sleep", "60"]) as process:
        yield process
        process.kill()


def dead() -> Process:
    """A process that has ended."""
    process = subprocess.Popen(["sleep", "60"])
    found = find(process.pid)
    process.kill()
    process.wait()
    assert found
    return found


def test_a_record_is_read_as_it_was_written() -> None:
    folder = StateFolder("one")
    record = Record(starter=myself(), nodes={"a": Process(1, 2)}, stage=Stage.RAY, fault="f", slow_load_s=0.5, port=9)
    folder.create(record)
    assert folder.read() == record
    assert [known.name for known in state.known()] == ["one"]


def test_a_deployment_that_is_being_made_is_not_made_again() -> None:
    StateFolder("one").create(Record(starter=myself()))
    with pytest.raises(LaunchError, match=r"'one' is already there .* down one"):
        StateFolder("one").create(Record(starter=myself()))


def test_a_deployment_that_stands_is_not_made_again(sleeper: subprocess.Popen[bytes]) -> None:
    StateFolder("one").create(Record(starter=dead(), hub=find(sleeper.pid)))
    with pytest.raises(LaunchError, match="already there"):
        StateFolder("one").create(Record(starter=myself()))


def test_what_a_dead_one_left_is_replaced() -> None:
    folder = StateFolder("one")
    folder.create(Record(starter=dead(), hub=dead()))
    (folder.path / "litter").touch()
    folder.create(Record(starter=myself()))
    assert not (folder.path / "litter").exists()


def test_removing_ends_the_hub_and_leaves_no_folder(runtime: Path, sleeper: subprocess.Popen[bytes]) -> None:
    StateFolder("one").create(Record(starter=dead(), hub=find(sleeper.pid)))
    StateFolder("one").remove()
    assert sleeper.wait(5) == -9
    assert list(runtime.iterdir()) == []
    StateFolder("one").remove()  # nothing is there, and nothing is said


def test_a_process_with_the_same_number_is_not_ended(sleeper: subprocess.Popen[bytes]) -> None:
    found = find(sleeper.pid)
    assert found
    StateFolder("one").create(Record(starter=dead(), hub=Process(found.pid, found.started - 1)))
    StateFolder("one").remove()
    assert sleeper.poll() is None


def test_a_zombie_is_not_alive() -> None:
    process = subprocess.Popen(["sleep", "60"])
    found = find(process.pid)
    assert found
    assert found.alive()
    assert kill(found)
    assert not found.alive()
    process.wait()


def test_a_record_that_cannot_be_read_is_none() -> None:
    folder = StateFolder("one")
    folder.create(Record(starter=myself()))
    (folder.path / "record.json").write_text("{")
    assert folder.read() is None


def test_a_folder_of_another_user_is_refused(runtime: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (runtime / "shakedown").mkdir()
    monkeypatch.setattr(os, "getuid", lambda: 4711)
    with pytest.raises(MissingPrerequisiteError, match="not a folder of this user"):
        StateFolder("one")


def test_a_link_to_another_folder_is_refused(runtime: Path) -> None:
    (runtime / "elsewhere").mkdir()
    (runtime / "shakedown").symlink_to(runtime / "elsewhere")
    with pytest.raises(MissingPrerequisiteError, match="not a folder of this user"):
        state.known()


def test_a_name_cannot_leave_the_folder() -> None:
    with pytest.raises(LaunchError, match="no name for a deployment"):
        StateFolder("../elsewhere")
