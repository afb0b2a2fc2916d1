"""Whatever a command prints or does, its answer arrives as it was, and so do those of all others."""

from __future__ import annotations

import base64
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shakedown.errors import EvidenceError
from shakedown.nodes.answer import MOST_BYTES
from shakedown.nodes.framing import Asked, End, Frame, parse, script_of


def frames(*commands: str, limit_s: int = 5) -> list[Frame]:
    """Run the script of some commands in a real shell and parse what comes back."""
    return side_by_side([(command, limit_s) for command in commands])


def side_by_side(*rows: list[tuple[str, int]], most_bytes: int = MOST_BYTES) -> list[Frame]:
    """The frames of rows of commands, in the order in which they come."""
    script = script_of(*([Asked(*command, most_bytes) for command in row] for row in rows))
    done = subprocess.run(["sh", "-s"], input=script.encode(), capture_output=True, check=True)
    parsed = [parse(line) for line in done.stdout.splitlines(keepends=True)]
    assert isinstance(parsed[-1], End)
    assert sum(isinstance(frame, End) for frame in parsed) == len(rows)
    assert None not in parsed
    return [frame for frame in parsed if isinstance(frame, Frame)]


def one(command: str, limit_s: int = 5) -> Frame:
    """The only frame of one command."""
    (frame,) = frames(command, limit_s=limit_s)
    return frame


@pytest.mark.parametrize(
    ("command", "stdout", "stderr", "exit_code"),
    [
        ("printf abc", b"abc", b"", 0),
        ("echo a; echo b >&2; exit 3", b"a\n", b"b\n", 3),
        (r"printf 'a\0b\377\n\n'", b"a\0b\xff\n\n", b"", 0),
        ("true", b"", b"", 0),
        ("cat", b"", b"", 0),
        (r"printf '\303\244\n\n' >&2", b"", b"\xc3\xa4\n\n", 0),
        ("printf '@end 1\\n@ 0 1 AA==\\n'", b"@end 1\n@ 0 1 AA==\n", b"", 0),
        ("echo '$(reboot)' \"it's\"", b"$(reboot) it's\n", b"", 0),
    ],
    ids=[
        "no newline",
        "both streams",
        "binary",
        "silent",
        "reads stdin",
        "many bytes of stderr",
        "looks like a frame",
        "quotes",
    ],
)
def test_an_answer_is_what_was_printed(command: str, stdout: bytes, stderr: bytes, exit_code: int) -> None:
    frame = one(command)
    assert (frame.stdout, frame.stderr, frame.exit_code) == (stdout, stderr, exit_code)


def test_a_huge_answer_arrives() -> None:
    frame = one("head -c 16000000 /dev/zero")
    assert (len(frame.stdout), frame.exit_code, frame.cut) == (16_000_000, 0, False)


@pytest.mark.parametrize("endless", ["yes", "yes 1@", "yes 12@", "cat /dev/zero", "cat /dev/zero; echo done >&2"])
def test_what_is_printed_without_end_is_cut_and_costs_no_other_answer(endless: str) -> None:
    """It is over long before its limit in seconds, and what it printed by then is kept."""
    before, cut, after = side_by_side([("echo 1", 30), (endless, 30), ("echo 2", 30)], most_bytes=1_000_000)
    assert (before.stdout, after.stdout) == (b"1\n", b"2\n")
    assert (len(cut.stdout), cut.cut) == (1_000_000, True)
    assert (after.time or 0.0) - (cut.time or 0.0) < 20


def test_what_is_complained_without_end_is_cut_and_costs_no_other_answer() -> None:
    before, cut, after = side_by_side([("echo 1", 30), ("echo here; yes >&2", 30), ("echo 2", 30)])
    assert (before.stdout, after.stdout) == (b"1\n", b"2\n")
    assert (cut.stdout, cut.cut) == (b"here\n", True)
    assert (after.time or 0.0) - (cut.time or 0.0) < 20


def test_a_row_that_is_held_back_is_cut_as_well() -> None:
    *_, cut, after = side_by_side([("true", 30)], [("yes", 30), ("echo 2", 30)], most_bytes=1_000_000)
    assert (len(cut.stdout), cut.cut, after.stdout) == (1_000_000, True, b"2\n")


def test_a_command_has_the_memory_that_it_would_have() -> None:
    """The limit is that of the shell which holds its complaints."""
    assert (
        one("ulimit -S -v").stdout
        == subprocess.run(["sh", "-c", "ulimit -S -v"], capture_output=True, check=True).stdout
    )


@pytest.mark.parametrize("suicide", ["kill -9 $$", "kill -9 $PPID", "kill -9 0", "exec false"])
def test_a_command_that_kills_its_shell_costs_no_other_answer(suicide: str) -> None:
    before, died, after = frames("echo 1", suicide, "echo 2")
    assert (before.stdout, after.stdout) == (b"1\n", b"2\n")
    assert died.exit_code != 0


def test_a_command_past_its_limit_is_ended() -> None:
    slow, after = frames("sleep 30", "echo here", limit_s=1)
    assert slow.exit_code == 124
    assert after.stdout == b"here\n"


def test_a_missing_program_is_an_answer() -> None:
    frame = one("no-such-program")
    assert frame.exit_code == 127
    assert b"not found" in frame.stderr


def test_the_nodes_clock_stamps_every_answer() -> None:
    first, second = frames("sleep 0.2", "true")
    assert first.time is not None
    assert second.time is not None
    assert second.time - first.time >= 0.2


def test_rows_are_worked_through_side_by_side_and_told_in_order() -> None:
    told = side_by_side(
        [("echo 0", 5), ("echo 1", 5)], [("sleep 1; echo 2", 5)], [("sleep 1; echo 3", 5), ("echo 4", 5)]
    )
    assert [frame.number for frame in told] == [0, 1, 2, 3, 4]
    assert [frame.stdout for frame in told] == [f"{number}\n".encode() for number in range(5)]
    second, third = (told[number].time or 0.0 for number in (2, 3))
    assert abs(third - second) < 1, "one did not wait for the other"


def test_the_first_command_runs_alone() -> None:
    first, _, beside = side_by_side([("sleep 0.3", 5), ("true", 5)], [("true", 5)])
    assert (beside.time or 0.0) - (first.time or 0.0) >= 0.3


def test_a_row_is_in_order_within_itself() -> None:
    told = side_by_side([("true", 5)], [("sleep 0.3", 5), ("true", 5)])
    times = [frame.time or 0.0 for frame in told]
    assert times[2] - times[1] >= 0.3


@pytest.mark.parametrize("suicide", ["kill -9 $$", "kill -9 $PPID", "kill -9 0"])
def test_a_row_whose_command_kills_its_shell_costs_no_other_answer(suicide: str) -> None:
    told = side_by_side([("sleep 0.2; echo 0", 5)], [(suicide, 5), ("echo 2", 5)], [("echo 3", 5)])
    assert [told[number].stdout for number in (0, 2, 3)] == [b"0\n", b"2\n", b"3\n"]
    assert told[1].exit_code != 0


def test_a_huge_answer_is_held_back_and_stops_nothing() -> None:
    """It does not fit into a pipe, and its command is long done when it is told."""
    *_, huge = side_by_side([("true", 5), ("sleep 3", 5)], [("head -c 3000000 /dev/zero", 2)])
    assert (len(huge.stdout), huge.exit_code) == (3_000_000, 0)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.binary(max_size=300), min_size=1, max_size=4))
def test_any_bytes_come_back(outputs: list[bytes]) -> None:
    commands = ["printf '" + "".join(f"\\{byte:03o}" for byte in output) + "'" for output in outputs]
    assert [frame.stdout for frame in frames(*commands)] == outputs


@pytest.mark.parametrize("line", [b"@ 0 1.0 YWJj", b"@ 0 1.0 !!!\n", b"@ 0\n"], ids=["cut", "garbled", "short"])
def test_a_damaged_frame_is_refused(line: bytes) -> None:
    with pytest.raises(EvidenceError, match="the answer to command 0"):
        parse(line)


@pytest.mark.parametrize("line", [b"Welcome to the machine\n", b"\n", b"@home\n"])
def test_a_banner_is_no_frame(line: bytes) -> None:
    assert parse(line) is None


@pytest.mark.parametrize(
    "content", [b"abc", b"\n0\n2", b"12@", b"\n1\n9@", b"\n0\nx@", b"\nx\n2@", b"1@"], ids=lambda content: str(content)
)
def test_an_answer_whose_end_is_missing_is_cut_and_kept(content: bytes) -> None:
    frame = parse(b"@ 0 1.0 " + base64.b64encode(content) + b"\n")
    assert isinstance(frame, Frame)
    assert (frame.stdout, frame.cut) == (content, True)
