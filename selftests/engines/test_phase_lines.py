"""Bytes become the same lines wherever they are cut, and a line is taken apart whatever it is made of."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shakedown.engines.vllm.phases import PhaseReader, Splitter, Start, lines_of, starts_of
from shakedown.engines.vllm.phases.lines import CUT, LONGEST, said_by

LOGS = [path.read_bytes() for path in sorted((Path(__file__).parent / "logs").glob("*.txt"))]
LINES = [line for log in LOGS for line in log.split(b"\n")]
ODD = [
    b"\r",
    b"\n",
    b"\r\n",
    b"\x1b[36m",
    b"\x1b[",
    b"\xff\xfe",
    b"\xe2\x96",
    b"\x00",
    b"{",
    b'{"message": 3}',
    b"(pid=1) ",
]
PIECES = st.sampled_from(ODD) | st.sampled_from(LINES)


def cut(data: bytes, cuts: list[int]) -> list[bytes]:
    places = [0, *sorted(place % (len(data) + 1) for place in cuts), len(data)]
    return [data[begin:end] for begin, end in pairwise(places)]


def split(pieces: list[bytes]) -> list[str]:
    splitter = Splitter()
    lines = [line for piece in pieces for line in splitter.feed(piece)]
    return lines + splitter.flush()


@given(st.lists(PIECES, max_size=30).map(b"".join), st.lists(st.integers(0, 10_000), max_size=20))
def test_any_cutting_gives_the_same_lines_and_starts(data: bytes, cuts: list[int]) -> None:
    lines = split(cut(data, cuts))
    assert lines == split([data])
    reader = PhaseReader()
    for line in lines:
        reader.feed(line)
    assert reader.starts == starts_of(data.decode(errors="replace"))


@pytest.mark.parametrize("log", LOGS)
def test_bytes_one_by_one_give_what_the_whole_gives(log: bytes) -> None:
    text = log.decode()
    assert split([bytes([byte]) for byte in log]) == list(lines_of(text))


@given(st.lists(PIECES | st.binary(max_size=60), max_size=20).map(b"".join), st.none() | st.floats(0, 2e9))
def test_no_bytes_make_it_raise(data: bytes, at: float | None) -> None:
    reader = PhaseReader()
    for line in split([data]):
        reader.feed(line, at)
        said_by(line)
    for start in reader.starts:
        assert_orderly(start)


def assert_orderly(start: Start) -> None:
    orders = [phase.name.order for phase in start.phases]
    assert orders == sorted(set(orders))
    assert all(phase.took_s is None or phase.took_s >= 0 for phase in start.phases)
    assert start.progress is None or 0 <= start.progress.done <= start.progress.total


def test_half_a_line_waits_for_its_end_and_is_not_doubled() -> None:
    splitter = Splitter()
    assert splitter.feed(b"Loading wei") == []
    assert splitter.waits
    assert splitter.feed(b"ghts took 3\nAvail") == ["Loading weights took 3"]
    assert splitter.flush() == ["Avail"]
    assert not splitter.waits
    assert splitter.feed(b"able\n") == ["able"]


def test_line_that_is_too_long_is_cut_with_a_mark() -> None:
    whole = split([b"x" * 3 * LONGEST + b"\nnext"])
    assert whole == ["x" * LONGEST + CUT, "next"]
    assert split([b"x" * LONGEST, b"x" * 2 * LONGEST, b"\nnext"]) == whole
    assert split([b"x" * LONGEST + b"\n"]) == ["x" * LONGEST]


@pytest.mark.parametrize(
    ("line", "message", "stamp", "speakers"),
    [
        ("(APIServer pid=7) INFO 03-02 10:00:00 [x.py:1] hello", "hello", "03-02 10:00:00", ["APIServer"]),
        ("INFO 03-02 10:00:00 [x.py:1] hello", "hello", "03-02 10:00:00", []),
        ("my-prefix (APIServer pid=7) INFO 03-02 10:00:00 [x.py:1] hello", "hello", "03-02 10:00:00", ["APIServer"]),
        (
            "(RayWorkerProc pid=9, ip=10.0.0.2) (Worker_TP0 pid=9) WARNING 03-02 10:00:00 [x.py:1] hello",
            "hello",
            "03-02 10:00:00",
            ["RayWorkerProc", "Worker_TP0"],
        ),
        ("2026-03-02 10:00:00,104\tINFO worker.py:1810 -- hello", "hello", "03-02 10:00:00", []),
        ("2026-03-02 10:00:00,104 - INFO - autotuner.py:256 - flashinfer.jit: hello", "hello", "03-02 10:00:00", []),
        ("(RayWorkerProc pid=9) hello [repeated 2x across cluster] (Ray", "hello", None, ["RayWorkerProc"]),
        ("(APIServer pid=7) INFO:     hello", "hello", None, ["APIServer"]),
        ("head-1  | INFO:     hello", "hello", None, []),
        ("2026-03-02T10:00:00.123456789Z (Worker_TP0 pid=9) hello", "hello", None, ["Worker_TP0"]),
        (
            '(RayWorkerProc pid=9) {"asctime": "2026-03-02 10:00:00,104", "processName": "MainProcess", "process": 9, '
            '"message": "hello"}',
            "hello",
            "03-02 10:00:00",
            ["RayWorkerProc", "MainProcess"],
        ),
        ('{"message": ["hello"]}', '{"message": ["hello"]}', None, []),
        ('INFO:     "GET /?INFO 03-02 10:00:00 [x] hello"', '"GET /?INFO 03-02 10:00:00 [x] hello"', None, []),
    ],
)  # fmt: skip
def test_lines_are_taken_apart(line: str, message: str, stamp: str | None, speakers: list[str]) -> None:
    said = said_by(line)
    assert (said.message, said.stamp) == (message, stamp)
    assert [speaker.name for speaker in said.speakers] == speakers
