"""`report.html`: the page of a run, drawn from its results and from nothing else, in one file without any script.

Texts of nodes and servers are on it, so everything is escaped, and the page forbids its browser to load anything.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from shakedown.report import words
from shakedown.report.matrix import matrix
from shakedown.report.results import CheckResult, Outcome, RunResults
from shakedown.report.timeline import legend, rows
from shakedown.report.unread import unread
from shakedown.text import printable_lines
from shakedown.units import gib

FOLDER = Path(__file__).parent
TEMPLATE = "page.html.jinja"


def page(results: RunResults) -> str:
    """The whole page as text."""
    return (
        _environment()
        .get_template(TEMPLATE)
        .render(
            results=results,
            troubles=words.troubles(results),
            matrix=matrix(results),
            unread=unread(results),
            broken=words.broken(results),
            skips=words.skip_reasons(results),
            measured=[test for test in results.tests if test.metrics],
            suites=[(suite or "other", _of_suite(results, suite)) for suite in (*results.suites, None)],
            sentence=words.sentence(results),
            nothing_said=words.NOTHING_SAID,
            tally=words.tally(results),
            coverage=words.coverage_text(results),
            waiver_notes=words.waiver_notes(results),
            timeline=results.start,
            timeline_rows=rows(results.start) if results.start else (),
            timeline_legend=legend(results.start) if results.start else (),
        )
    )


def _of_suite(results: RunResults, suite: str | None) -> list[CheckResult]:
    return [test for test in results.tests if test.suite == suite]


def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "judged": words.judged,
        "quantity": words.quantity,
        "lasted": words.lasted,
        "gib": gib,
        "name": _test_name,
        "word": _word,
        "variant": _variant,
    }
    environment.globals["Outcome"] = Outcome
    return environment


def _shown(value: Any) -> Any:
    return printable_lines(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _test_name(test: CheckResult) -> str:
    return test.nodeid.rpartition("::")[2]


def _word(outcome: Outcome) -> str:
    return "waived" if outcome is Outcome.XFAILED else outcome.value


def _variant(test: CheckResult) -> str:
    """What tells this test from others of the same claim; the node has a column of its own."""
    _, bracket, parameters = _test_name(test).partition("[")
    variant = parameters.removesuffix("]") if bracket else ""
    return "" if variant == test.node else variant
