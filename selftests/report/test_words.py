"""Numbers and durations in words."""

from __future__ import annotations

from typing import Any

import pytest

from selftests.report.samples import a_test, finding, run, unreadable
from shakedown.outcomes import Severity
from shakedown.report.results import MetricRecord, Outcome
from shakedown.report.words import lasted, quantity, sentence


@pytest.mark.parametrize(
    ("value", "unit", "words"),
    [
        (0.000123456, "s", "0.0001235 s"),
        (1.0, "s", "1 s"),
        (27.04999, "tokens/s", "27.05 tokens/s"),
        (999.96, "s", "1000 s"),
        (12345.6, "bytes", "12346 bytes"),
        (-0.5, "ratio", "-0.5 ratio"),
        (3.0, "", "3"),
        (None, "s", "none"),
    ],
)
def test_quantity(value: float | None, unit: str, words: str) -> None:
    assert quantity(MetricRecord(name="m", value=value, unit=unit)) == words


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.0004, "0 ms"), (0.85, "850 ms"), (3.21, "3.2 s"), (59.96, "60.0 s"), (61, "1 min 1 s"), (725, "12 min 5 s")],
)
def test_duration(seconds: float, words: str) -> None:
    assert lasted(seconds) == words


@pytest.mark.parametrize(
    ("passed", "skipped", "words"),
    [
        (4, 7, "no blocker was found (4 claims held, 7 were not judged)"),
        (1, 1, "no blocker was found (1 claim held, 1 was not judged)"),
        (2, 0, "no blocker was found (2 claims held)"),
        (0, 3, "not a single claim was judged"),
    ],
)
def test_acceptance_says_how_much_it_rests_on(passed: int, skipped: int, words: str) -> None:
    held = [a_test(f"p{number}", Outcome.PASSED) for number in range(passed)]
    rest = [a_test(f"s{number}", Outcome.SKIPPED, reason="no baseline") for number in range(skipped)]
    assert sentence(run(*held, *rest)) == words


@pytest.mark.parametrize(
    ("kinds", "words"),
    [
        ("f", "1 claim does not hold"),
        ("ffu", "2 claims do not hold, 1 claim could not be judged"),
        ("u", "1 claim could not be judged"),
        ("b", "1 test broke"),
        ("fub", "1 claim does not hold, 1 claim could not be judged, 1 test broke"),
    ],
)
def test_refusal_tells_what_was_found_from_what_is_unknown_and_what_broke(kinds: str, words: str) -> None:
    outcomes: dict[str, dict[str, Any]] = {
        "f": {"outcome": Outcome.FAILED, "finding": finding()},
        "u": {"outcome": Outcome.FAILED, "finding": unreadable()},
        "b": {"outcome": Outcome.ERROR, "reason": "ValueError: boom"},
    }
    failed = [a_test(f"t{number}", **outcomes[kind]) for number, kind in enumerate(kinds)]
    assert sentence(run(*failed, a_test("p", Outcome.PASSED), exit_status=1)) == words


def test_refusal_says_why_where_nothing_was_judged() -> None:
    tests = (
        a_test("e", Outcome.ERROR, reason="declared, but not reachable: spark-b\nspark-b: no route"),
        a_test("s", Outcome.SKIPPED, reason="no deployment"),
    )
    assert sentence(run(*tests, exit_status=1)) == "nothing was judged: declared, but not reachable: spark-b"


def test_acceptance_counts_what_could_not_be_read_as_not_judged() -> None:
    tests = (a_test("p", Outcome.PASSED), a_test("u", Outcome.FINDING, finding=unreadable(severity=Severity.WARNING)))
    assert sentence(run(*tests)) == "no blocker was found (1 claim held, 1 was not judged)"
