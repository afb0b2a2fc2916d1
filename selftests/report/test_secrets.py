"""The key of the server, and what looks like a secret, wherever a check may have met it."""

from __future__ import annotations

import pytest

from selftests.report.runs import REAL, Ran, ended, project, start
from shakedown.report.results import Outcome

KEY = "the-key-itself"
TESTS = """
import os
from shakedown.outcomes import Metric

KEY = os.environ["SHAKEDOWN_TEST_KEY"]
pytestmark = pytest.mark.infra

@pytest.mark.check("NET-01", stages=("ray",))
def test_blocks(claim):
    claim(False, found=f'401 with body {{"error": "{KEY} is not known"}}', expected=f"200 to {KEY}")

@pytest.mark.check("NET-07", stages=("ray",), severity="warning")
def test_warns(claim):
    claim(False, found=f"401 says {KEY}", expected="Authorization: Bearer abc.def")

@pytest.mark.check("NET-13", stages=("ray",))
@pytest.mark.xfail(reason=f"{KEY} is wrong", strict=False)
def test_waived(claim):
    claim(False, found=KEY, expected=KEY)

@pytest.mark.check("NET-14", stages=("ray",))
def test_skips(claim, measured, request):
    measured(Metric("ttft_s.p90", None, "s", note=f"refused: {KEY}"))
    request.node.user_properties.append(("verdict", KEY))
    pytest.skip(f"the server says {KEY}")
"""


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    folder = tmp_path_factory.mktemp("secrets")
    (folder / "test_other.py").write_text("import os\nraise ValueError(os.environ['SHAKEDOWN_TEST_KEY'])\n")
    options = ("-rA", "--continue-on-collection-errors", "--deselect", KEY)
    return ended(start(project(folder, TESTS), *options, deployment=REAL), folder)


def test_findings_are_there_without_the_key(ran: Ran) -> None:
    blocks, warns, waived, skips = (ran.test(f"test_{name}") for name in ("blocks", "warns", "waived", "skips"))
    assert [test.outcome for test in (blocks, warns, waived, skips)] == [
        Outcome.FAILED,
        Outcome.FINDING,
        Outcome.XFAILED,
        Outcome.SKIPPED,
    ]
    assert blocks.finding is not None
    assert blocks.finding.found == '401 with body {"error": "[redacted] is not known"}'
    assert blocks.finding.expected == "200 to [redacted]"
    assert blocks.finding.remedy
    assert warns.finding is not None
    assert (warns.finding.found, warns.finding.expected) == ("401 says [redacted]", "Authorization: [redacted]")
    assert waived.reason == "[redacted] is wrong"
    assert skips.reason == "the server says [redacted]"
    assert skips.metrics[0].note == "refused: [redacted]"
    assert any("[redacted]" in error for error in ran.results.errors)


@pytest.mark.parametrize("file", ["results.json", "report.html", "junit.xml"])
def test_key_is_in_no_file(file: str, ran: Ran) -> None:
    text = (ran.latest / file).read_text()
    assert "401" in text
    assert KEY not in text


def test_key_is_not_on_the_terminal(ran: Ran) -> None:
    assert "401" in ran.text
    assert KEY not in ran.text
