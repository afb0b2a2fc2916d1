"""Bars and counts of a start: how many of how many are done."""

from __future__ import annotations

import re
from dataclasses import dataclass

from shakedown.engines.vllm.phases.names import PhaseName


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a phase is.

    Attributes:
        phase: which.
        done: items that are done.
        total: items in all, above 0.
        unit: what is counted: ``shards``, ``tensors``, ``bytes``, ``files``, ``graphs``, ``kernels``.
        seconds_per_item: as the bar says it, smoothed by its own rule; None where it says nothing (yet).
        background: it goes on beside the phase and need not end with it (prefetching into the page cache).
    """

    phase: PhaseName
    done: int
    total: int
    unit: str
    seconds_per_item: float | None = None
    background: bool = False

    @property
    def complete(self) -> bool:
        """Whether all is done."""
        return self.done == self.total


@dataclass(frozen=True, slots=True)
class Bar:
    """One drawing of a bar.

    Attributes:
        title: the words before its numbers; two bars of one phase differ in it.
        progress: what it shows.
        elapsed_s: since it was drawn first, s.
    """

    title: str
    progress: Progress
    elapsed_s: float

    def follows(self, before: Bar) -> bool:
        """Whether this is another bar than the one before it in its phase, and no new drawing of the same."""
        new, old = self.progress, before.progress
        return self.title != before.title or new.total != old.total or (new.done == 0 and old.complete)


@dataclass(frozen=True, slots=True)
class _Kind:
    word: str
    title: re.Pattern[str]
    phase: PhaseName
    unit: str

    @property
    def background(self) -> bool:
        return self.word.startswith("Prefetching")


_KINDS = tuple(
    _Kind(word, re.compile(title), phase, unit)
    for phase, unit, word, title in (
        (PhaseName.WEIGHTS, "shards", "shards", r"(?:Loading|Multi-thread loading) [\w ]{0,40}shards(?: \(\w+\))?"),
        (PhaseName.WEIGHTS, "shards", "astsafetensor", r"Loading safetensors using [Ff]astsafetensors? loader"),
        (PhaseName.WEIGHTS, "tensors", "Runai Model Streamer", r"Loading safetensors using Runai Model Streamer"),
        (PhaseName.WEIGHTS, "bytes", "InstantTensor", r"Loading safetensors using InstantTensor loader"),
        (PhaseName.WEIGHTS, "files", "Prefetching checkpoint files", r"Prefetching checkpoint files"),
        (PhaseName.GRAPHS, "graphs", "Capturing ", r"Capturing [\w -]{0,40}CUDA graphs(?: \([^()]{0,60}\))?"),
        (PhaseName.WARMUP, "kernels", "DeepGEMM warmup", r"DeepGEMM warmup"),
        (PhaseName.WARMUP, "kernels", "JIT kernel warmup", r"JIT kernel warmup \(\d+ compile keys\)"),
        (PhaseName.WARMUP, "kernels", "CuTeDSL kernels", r"Compiling CuTeDSL kernels"),
        (PhaseName.WARMUP, "kernels", "[AutoTuner]", r"\[AutoTuner\]: Tuning [^|%]{1,80}?(?=:? {1,3}\d{1,3}%)"),
    )
)

BAR_WORDS = tuple(kind.word for kind in _KINDS)
"""Every line with a bar holds one."""

_NUMBERS = re.compile(
    r"\s*:? {1,3}\d{1,3}%[^/()\[\]]{0,120}?"
    r"[ |(](?P<done>\d[\d.]{0,14}[kKMGTP]?)/(?P<total>\d[\d.]{0,14}[kKMGTP]?)(?P<rest>\)| ?\[[^\]]{0,80}\]|$)"
)
_ELAPSED = re.compile(r"\[(?:(\d+):)?(\d+):(\d+)<")
_RATE = re.compile(r", +(?P<number>\d[\d.]{0,14}(?:[kKMGTP](?=B/s))?)(?P<per>s/\w+|\w+/s)\]")
_POWERS = {"k": 1, "K": 1, "M": 2, "G": 3, "T": 4, "P": 5}


def bar_in(text: str) -> tuple[Bar, int, int] | None:
    """The first bar in a line, with where it begins and ends, None if there is none.

    A bar has no line of its own: what another process writes may follow it without a break.
    """
    for kind in _KINDS:
        if kind.word not in text or (title := kind.title.search(text)) is None or '"' in text[: title.start()]:
            continue
        numbers = _NUMBERS.match(text, title.end())
        if numbers is not None and (progress := _progress(kind, numbers)) is not None:
            return Bar(title[0], progress, _elapsed_s(numbers["rest"])), title.start(), numbers.end()
    return None


def _progress(kind: _Kind, numbers: re.Match[str]) -> Progress | None:
    done, total = _number(numbers["done"]), _number(numbers["total"])
    if done is None or total is None or not 0 <= done <= total or total < 1:
        return None
    return Progress(kind.phase, int(done), int(total), kind.unit, _seconds_per_item(numbers["rest"]), kind.background)


def _number(text: str) -> float | None:
    """With a unit of 1024: only bytes are scaled."""
    number, power = (text[:-1], _POWERS[text[-1]]) if text[-1] in _POWERS else (text, 0)
    try:
        return float(number) * 1024.0**power
    except ValueError:
        return None


def _elapsed_s(rest: str) -> float:
    match = _ELAPSED.search(rest)
    return int(match[1] or 0) * 3600 + int(match[2]) * 60 + int(match[3]) if match else 0.0


def _seconds_per_item(rest: str) -> float | None:
    match = _RATE.search(rest)
    rate = _number(match["number"]) if match else None
    if match is None or not rate:
        return None
    return rate if match["per"].startswith("s/") else 1 / rate
