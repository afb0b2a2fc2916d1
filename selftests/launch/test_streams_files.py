"""Files as they behave on a node: late, rotated, truncated, replaced, half written; and a follower that is killed."""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from selftests.launch.following import Through, append, following, sleep_past_polls
from selftests.nodes.machines import eventually
from shakedown.engines.vllm.phases.lines import CUT, LONGEST
from shakedown.launch.events import Contact, Opened, Stream

SERVE = Stream.SERVE.value
WORKER = Stream.WORKER.value


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "serve.log"


@pytest.fixture
def here(tmp_path: Path) -> Through:
    return Through(tmp_path / "pid")


def test_what_is_written_comes_within_a_second(log: Path, here: Through) -> None:
    log.write_text("INFO 12-01 12:00:00 [x.py:1] before\n")
    with following(here, files=[(SERVE, str(log))]) as told:
        assert told.wait_line("before").backlog
        wrote = time.time()
        append(log, "now\n")
        line = told.wait_line("now")
        assert not line.backlog
        assert wrote - 0.01 <= line.line.at < wrote + 5
        assert (line.line.node, line.line.stream, line.line.source) == ("node", SERVE, str(log))


def test_a_missing_file_is_told_and_followed_when_it_comes(log: Path, here: Through) -> None:
    with following(here, files=[(SERVE, str(log))]) as told:
        missing = told.wait(Opened)
        assert (missing.there, missing.why) == (False, "No such file or directory")
        log.write_text("first\n")
        assert not told.wait_line("first").backlog
        assert [event.there for event in told.all(Opened)] == [False, True]


def test_rotation_loses_nothing(log: Path, here: Through) -> None:
    log.write_text("")
    with following(here, files=[(SERVE, str(log))]) as told:
        told.wait(Opened)
        writer = log.open("a")
        for number in range(3):
            writer.write(f"a{number}\n")
            writer.flush()
        log.rename(log.with_suffix(".1"))
        writer.write("to the old name's file\n")
        writer.flush()
        log.write_text("b0\n")
        told.wait_line("b0")
        writer.write("late\n")
        writer.close()
        told.wait_line("late")
        assert sorted(told.texts()) == sorted(["a0", "a1", "a2", "to the old name's file", "b0", "late"])


def test_truncation_begins_anew(log: Path, here: Through) -> None:
    log.write_text("old 1\nold 2\nhalf of a")
    with following(here, files=[(SERVE, str(log))]) as told:
        told.wait_line("old 2")
        sleep_past_polls()
        log.write_text("new\n")
        told.wait_line("new")
        assert told.texts() == ["old 1", "old 2", "half of a", "new"]


def test_a_new_session_of_ray_is_followed(tmp_path: Path, here: Through) -> None:
    """The link leads to another folder; files in it may have the old names."""
    link = tmp_path / "session_latest"
    for session in ("session_1", "session_2"):
        (tmp_path / session / "logs").mkdir(parents=True)
    link.symlink_to("session_1")
    old = tmp_path / "session_1/logs"
    (old / "worker-1-ffff-7.out").write_text("one\n")
    logs = [(WORKER, str(link / "logs/worker-*.out")), (Stream.RAYLET_OUT.value, str(link / "logs/raylet.out"))]
    with following(here, files=logs) as told:
        told.wait_line("one")
        (tmp_path / "next").symlink_to("session_2")
        (tmp_path / "next").rename(link)
        append(old / "worker-1-ffff-7.out", "last words\n")
        (tmp_path / "session_2/logs/worker-1-ffff-7.out").write_text("two\n")
        (tmp_path / "session_2/logs/raylet.out").write_text("raylet\n")
        for text in ("two", "raylet", "last words"):
            assert not told.wait_line(text).backlog


def test_lines_of_every_kind_arrive_as_lines(log: Path, here: Through) -> None:
    log.write_text("")
    with following(here, files=[(SERVE, str(log))]) as told:
        told.wait(Opened)
        append(log, b"\rshards 1/39")
        append(log, b"\rshards 2/39\n")
        append(log, b"\x1b[31mcaf\xe9\x1b[0m\n" + b"z" * 40_000 + b"\n")
        append(log, "HF_TOKEN=hf_abcdefghijklmnopqrst --api-key s3cret\n")
        append(log, "half of ")
        told.wait_line("half of")
        append(log, "a line\n")
        told.wait_line("a line")
        assert told.texts() == [
            "shards 1/39",
            "shards 2/39",
            "caf\ufffd",
            "z" * LONGEST + CUT,
            "HF_TOKEN=[redacted]",
            "half of",
            "a line",
        ]


def test_a_file_that_may_not_be_read_or_is_none_is_told(tmp_path: Path, here: Through) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    with following(here, files=[(SERVE, str(fifo)), (WORKER, str(tmp_path / "no/worker-*"))]) as told:
        eventually(lambda: len(told.all(Opened)) >= 2, "both are told")
        sleep_past_polls()
        assert {event.why for event in told.all(Opened)} == {"not a regular file", "No such file or directory"}
        assert len(told.all(Opened)) == 2


class Writer(threading.Thread):
    """Writes numbered lines without pause, in pieces that end anywhere, and rotates now and then."""

    def __init__(self, log: Path) -> None:
        super().__init__(daemon=True)
        self.stopped = threading.Event()
        self.lines = 0
        self._log = log

    def run(self) -> None:
        log = self._log.open("ab", buffering=0)
        while not self.stopped.is_set():
            line = f"line {self.lines} {'é' * (self.lines % 50)}.\n".encode()
            cut = self.lines % len(line)
            log.write(line[:cut])
            self.stopped.wait(0.001)
            log.write(line[cut:])
            self.lines += 1
            if self.lines % 1500 == 0:
                log.close()
                self._log.rename(self._log.with_suffix(f".{self.lines}"))
                log = self._log.open("ab", buffering=0)
        log.close()


@pytest.fixture
def writer(log: Path) -> Iterator[Writer]:
    thread = Writer(log)
    yield thread
    thread.stopped.set()
    thread.join()


def test_a_connection_that_is_cut_loses_and_doubles_no_line(log: Path, here: Through, writer: Writer) -> None:
    log.touch()
    with following(here, files=[(SERVE, str(log))]) as told:
        writer.start()
        for _ in range(4):
            told.wait_line(f"line {writer.lines + 50} ")
            here.cut()
            time.sleep(0.3)
        writer.stopped.set()
        writer.join()
        append(log, "the end\n")
        told.wait_line("the end")
        eventually(lambda: len(told.texts()) >= writer.lines + 1, "the rest of rotated files comes")
        numbers = [int(re.split(" ", text)[1]) for text in told.texts() if text != "the end"]
        assert sorted(numbers) == list(range(writer.lines))
        assert [event.reached for event in told.all(Contact)] == [True, *([False, True] * 4)]


def test_a_node_that_is_gone_is_told_and_followed_when_it_is_back(log: Path, here: Through) -> None:
    log.write_text("before\n")
    with following(here, files=[(SERVE, str(log))]) as told:
        told.wait_line("before")
        here.closed.set()
        here.cut()
        lost = told.wait(Contact, lambda event: "No route to host" in event.why)
        assert not lost.reached
        assert lost.clock_offset_s is None
        append(log, "INFO 12-01 12:00:00 [x.py:1] while away\n")
        here.closed.clear()
        assert told.wait_line("while away").backlog
        assert told.texts() == ["before", "INFO 12-01 12:00:00 [x.py:1] while away"]


def test_another_file_under_the_same_name_is_no_continuation(log: Path, here: Through) -> None:
    """Even where the file system gives it the number that the old one had."""
    log.write_text("one of the old file\n")
    with following(here, files=[(SERVE, str(log))]) as told:
        told.wait_line("old file")
        here.closed.set()
        here.cut()
        told.wait(Contact, lambda event: not event.reached and "No route" in event.why)
        log.unlink()
        log.write_text("one of the new file, which is longer than the other was\n")
        here.closed.clear()
        told.wait_line("new file")
        assert told.texts() == ["one of the old file", "one of the new file, which is longer than the other was"]
