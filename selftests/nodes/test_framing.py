"""Whatever a command prints or does, its answer arrives as it was, and so do those of all others."""

from __future__ import annotations

import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shakedown.errors import EvidenceError
from shakedown.nodes.framing import End, Frame, parse, script_of


def frames(*commands: str, limit_s: int = 5) -> list[Frame]:
    """Run the script of some commands in a real shell and parse what comes back."""
    script = script_of((command, limit_s) for command in commands)
    done = subprocess.run(["sh", "-s"], input=script.encode(), capture_output=True, check=True)
    parsed = [parse(line) for line in done.stdout.splitlines(keepends=True)]
    assert isinstance(parsed.pop(), End)
    assert all(isinstance(frame, Frame) for frame in parsed)
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
        ("printf '@end 1\\n@ 0 1 AA==\\n'", b"@end 1\n@ 0 1 AA==\n", b"", 0),
        ("echo '$(reboot)' \"it's\"", b"$(reboot) it's\n", b"", 0),
    ],
    ids=["no newline", "both streams", "binary", "silent", "reads stdin", "looks like a frame", "quotes"],
)
def test_an_answer_is_what_was_printed(command: str, stdout: bytes, stderr: bytes, exit_code: int) -> None:
    frame = one(command)
    assert (frame.stdout, frame.stderr, frame.exit_code) == (stdout, stderr, exit_code)


def test_a_huge_answer_arrives() -> None:
    assert len(one("head -c 20000000 /dev/zero").stdout) == 20_000_000


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


@settings(max_examples=25, deadline=None)
@given(st.lists(st.binary(max_size=300), min_size=1, max_size=4))
def test_any_bytes_come_back(outputs: list[bytes]) -> None:
    commands = ["printf '" + "".join(f"\\{byte:03o}" for byte in output) + "'" for output in outputs]
    assert [frame.stdout for frame in frames(*commands)] == outputs


@pytest.mark.parametrize(
    "line", [b"@ 0 1.0 YWJj", b"@ 0 1.0 !!!\n", b"@ 0\n", b"@ 0 1.0 YWJj\n"], ids=["cut", "garbled", "short", "no code"]
)
def test_a_damaged_frame_is_refused(line: bytes) -> None:
    with pytest.raises(EvidenceError, match="the answer to command 0"):
        parse(line)


@pytest.mark.parametrize("line", [b"Welcome to the machine\n", b"\n", b"@home\n"])
def test_a_banner_is_no_frame(line: bytes) -> None:
    assert parse(line) is None
