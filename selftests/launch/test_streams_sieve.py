"""A backlog is sifted on the node: with its grep or without, the same lines come through."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selftests.launch.following import Through, append, following
from shakedown.launch.events import Stream
from shakedown.launch.scripts.sieve import Sieve
from shakedown.launch.scripts.tails import LAST, RAW

SERVE = Stream.SERVE.value
GREP = shutil.which("grep")

WORDS = st.lists(st.text("ab.$[-\\é ", min_size=1, max_size=5), min_size=1, max_size=8)
TEXTS = st.lists(st.text("ab.$[-\\é \r", max_size=9), max_size=9).map(lambda lines: "\n".join(lines).encode())


@given(WORDS, TEXTS)
def test_python_lets_through_what_holds_a_word(words: list[str], text: bytes) -> None:
    sieve = Sieve(words, None)
    expected = [line for line in text.split(b"\n") if any(word.encode() in line for word in words)]
    assert sieve.sift(text).splitlines(keepends=True) == b"".join(line + b"\n" for line in expected).splitlines(True)
    assert [line for line in text.split(b"\n") if sieve.lets_through(line)] == expected


def test_grep_lets_through_the_same() -> None:
    words = ["-e", "a.b", "[", "é", "with blanks", "$HOME"]
    text = b"".join(b"x %b y\n" % word.encode() for word in words) + b"a-b\nnothing\n\xff\x00 [ binary\nunfinished -e"
    assert Sieve(words, GREP).sift(text) == Sieve(words, None).sift(text)
    assert Sieve(words, GREP).sift(text).count(b"\n") == len(words) + 2
    assert Sieve(words, GREP).sift(b"nothing\n") == b""


@pytest.mark.parametrize("program", ["/bin/false/not-there", "sh -c 'exit 2'"])
def test_a_grep_of_another_kind_is_done_without(program: str, tmp_path: Path) -> None:
    grep = tmp_path / "grep"
    grep.write_text(f"#!/bin/sh\n{program} 2>/dev/null; exit 2\n")
    grep.chmod(0o755)
    assert Sieve(["word"], str(grep)).sift(b"a word\nnone\n") == b"a word\n"


def test_without_words_nothing_comes_through() -> None:
    assert Sieve([], GREP).sift(b"a\n") == b""
    assert not Sieve([""], None).lets_through(b"a")


@pytest.fixture
def here(tmp_path: Path) -> Through:
    return Through(tmp_path / "pid")


def filler(count: int) -> str:
    """Lines that mean nothing, of 100 bytes."""
    return f"{'-' * 99}\n" * count


def test_of_a_long_log_come_lines_with_words_and_the_last_as_they_are(tmp_path: Path, here: Through) -> None:
    log = tmp_path / "serve.log"
    early = "INFO 12-01 03:00:00 [x.py:1] Loading weights took 3 s\n"
    log.write_text(filler(200_000) + early + filler(1000) + "last\n")
    with following(here, ["Loading weights"], files=[(SERVE, str(log))]) as told:
        told.wait_line("last")
        append(log, "live\n")
        told.wait_line("live")
        texts = told.texts()
    assert texts[0] + "\n" == early
    assert texts[-2:] == ["last", "live"]
    assert LAST - 200 < sum(len(text) + 1 for text in texts[1:-1]) <= LAST


@pytest.mark.parametrize(("missed", "whole"), [(100, True), (RAW // 100 + 1, False)])
def test_what_was_missed_comes_whole_unless_it_is_very_long(
    tmp_path: Path, here: Through, missed: int, whole: bool
) -> None:
    log = tmp_path / "serve.log"
    log.write_text("begin\nhalf")
    with following(here, ["found"], files=[(SERVE, str(log))]) as told:
        told.wait_line("begin")
        here.closed.set()
        here.cut()
        append(log, f" of it\n{filler(missed)}a found line\n{filler(1000)}last\n")
        here.closed.clear()
        told.wait_line("last")
        texts = told.texts()
    assert texts.count("a found line") == 1
    assert ("half of it" in texts) == whole
    assert (sum(text.startswith("---") for text in texts) == missed + 1000) == whole
