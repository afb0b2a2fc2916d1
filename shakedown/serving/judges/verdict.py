"""What a judge says: which of how many responses break an invariant, and how."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from shakedown.serving.exchange import Exchange

SHOWN = 4
"""Violations that a finding spells out; the rest are counted, and all of them are in the corpus file."""


class Judged(Protocol):
    """Anything that stands for one exchange."""

    @property
    def exchange(self) -> Exchange:
        """The exchange with all its bytes."""


Subject = TypeVar("Subject", bound=Judged)


@dataclass(frozen=True, slots=True)
class Violation:
    """One response that breaks an invariant: which, and what was found in it."""

    name: str
    found: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """The outcome over many responses.

    Attributes:
        judged: how many responses were looked at.
        violations: all that was found.
    """

    judged: int
    violations: tuple[Violation, ...]

    @property
    def holds(self) -> bool:
        """No violation in at least one response: an invariant over nothing does not hold."""
        return self.judged > 0 and not self.violations

    @property
    def found(self) -> str:
        """For a finding: how many, and the first few."""
        if not self.judged:
            return "no response to judge"
        if not self.violations:
            return f"none in {self.judged} responses"
        broken = len({violation.name for violation in self.violations})
        lines = [f"{broken} of {self.judged} responses:"]
        lines += [f"{violation.name}: {violation.found}" for violation in self.violations[:SHOWN]]
        if len(self.violations) > SHOWN:
            lines.append(f"and {len(self.violations) - SHOWN} more")
        return "\n".join(lines)

    def __add__(self, other: Verdict) -> Verdict:
        return Verdict(self.judged + other.judged, self.violations + other.violations)


def judge(subjects: Sequence[Subject], rule: Callable[[Subject], Iterable[str]]) -> Verdict:
    """Apply a rule to every response; it yields what is wrong with one.

    A response that is no complete answer with status 200 is itself a violation.
    """
    return Verdict(len(subjects), tuple(_violations(subjects, rule)))


def judge_together(
    subjects: Sequence[Subject], rule: Callable[[Sequence[Subject]], Iterable[tuple[str, str]]]
) -> Verdict:
    """Apply a rule that compares responses with each other; it yields names of responses and what is wrong."""
    return Verdict(len(subjects), tuple(Violation(name, found) for name, found in rule(subjects)))


def judge_answered(subjects: Sequence[Subject]) -> Verdict:
    """Whether every response is a complete answer with status 200, whatever it says."""
    return judge(subjects, lambda _: ())


def judge_complete(subjects: Sequence[Subject], rule: Callable[[Subject], Iterable[str]]) -> Verdict:
    """As :func:`judge`, but over complete answers only: for invariants that are asked of everything ever sent.

    What is not complete is the matter of the check that sent it.
    """
    complete = [subject for subject in subjects if subject.exchange.problem is None]
    return Verdict(len(complete), tuple(_violations(complete, rule)))


def _violations(subjects: Iterable[Subject], rule: Callable[[Subject], Iterable[str]]) -> Iterable[Violation]:
    for subject in subjects:
        problem = subject.exchange.problem
        for found in (problem,) if problem else rule(subject):
            yield Violation(subject.exchange.name, found)
