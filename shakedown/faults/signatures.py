"""Every signature of the catalogue, compiled: which fault does a line tell of, and with which details?"""

from __future__ import annotations

import re
import tomllib
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from shakedown.faults.catalogue import Entry, known_faults
from shakedown.faults.lines import LogLine
from shakedown.faults.sieve import sieve
from shakedown.faults.signature import Kind, Signature, Text

TRACEBACK = "Traceback (most recent call last)"
"""What begins the report of an exception, known to the catalogue or not."""

_EXCEPTIONS = (TRACEBACK, "Error: ", "Exception: ", "RayTaskError(")
"""What is left of a traceback that was sifted: its begin, whose it is, and the exception."""

_KINDS: tuple[Kind, ...] = ("root", "suspect", "consequence", "hint")


class Noise(BaseModel):
    """Lines that look like a failure and that healthy launches have: no evidence at all.

    Attributes:
        pattern: regular expression that is searched for in a line.
        why: what such a line means.
        source: public; where it was seen on a launch that was well.
        samples: lines, for the proof that they are passed over.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    pattern: Text
    why: Text
    source: Text
    samples: tuple[Text, ...] = Field(min_length=1)


@dataclass(frozen=True, slots=True)
class Match:
    """What a line says of a fault.

    Attributes:
        entry: the fault.
        signature: the one that the line matches.
        details: named groups of its pattern; those that took no part are left out.
    """

    entry: Entry
    signature: Signature
    details: Mapping[str, str] = field(default_factory=dict)

    @property
    def said(self) -> str:
        """What the line tells beyond the entry; empty where it tells nothing."""
        return (self.signature.says or "").format_map(defaultdict(lambda: "?", self.details))


@dataclass(frozen=True, slots=True)
class _Compiled:
    entry: Entry
    signature: Signature
    word: str
    pattern: re.Pattern[str]
    unless: re.Pattern[str] | None

    def match(self, line: LogLine) -> Match | None:
        """What the line says, where this signature knows it and its log may be believed."""
        if self.signature.streams and line.stream not in self.signature.streams:
            return None
        found = self.pattern.search(line.text)
        if found is None or (self.unless is not None and self.unless.search(line.text)):
            return None
        return Match(self.entry, self.signature, {name: text for name, text in found.groupdict().items() if text})


@cache
def noise() -> tuple[Noise, ...]:
    """The known noise, in the order of its file."""
    file = Path(__file__).parent / "noise.toml"
    return tuple(Noise.model_validate(table) for table in tomllib.loads(file.read_text(encoding="utf-8"))["noise"])


def words() -> tuple[str, ...]:
    """Literals one of which every line contains that means anything here: what to sift a log by, as with `grep -F`."""
    return tuple(sorted({compiled.word for compiled in _compiled()} | {*_EXCEPTIONS}))


def match(line: LogLine) -> Match | None:
    """What the line says of a fault; None where it says nothing, or is known noise.

    A line that several signatures know is a root rather than a suspect, a suspect rather than a consequence, and tells
    what the one of lowest rank tells.
    """
    if not may_mean_something(line.text):
        return None
    known = [compiled for compiled in _compiled() if compiled.word in line.text]
    found = next(filter(None, (compiled.match(line) for compiled in known)), None)
    return None if found is None or is_noise(line.text) else found


def is_noise(text: str) -> bool:
    """Whether healthy launches have such lines."""
    return any(pattern.search(text) for pattern in _noise_patterns())


may_mean_something = sieve(
    {signature.literal for entry in known_faults() for signature in entry.signatures} | {TRACEBACK}
)
"""The first and cheap test of a line: whether it can be of interest to the diagnosis."""


@cache
def _compiled() -> tuple[_Compiled, ...]:
    both = [(entry, signature) for entry in known_faults() for signature in entry.signatures]
    both.sort(key=lambda pair: (_KINDS.index(pair[1].kind), pair[1].rank))
    return tuple(
        _Compiled(
            entry,
            signature,
            signature.literal,
            re.compile(signature.pattern),
            re.compile(signature.unless) if signature.unless else None,
        )
        for entry, signature in both
    )


@cache
def _noise_patterns() -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(known.pattern) for known in noise())
