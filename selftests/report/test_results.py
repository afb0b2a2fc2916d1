"""The file `results.json`."""

from __future__ import annotations

import json
import math
from datetime import UTC
from pathlib import Path

import pytest
from pydantic import ValidationError

from selftests.report.samples import STARTED, a_test, finding, full, run
from shakedown.outcomes import Finding, Metric, Severity
from shakedown.report.results import FindingRecord, MetricRecord, Outcome, RunResults, Verdict

PASSED = a_test("test_a", Outcome.PASSED)
FAILED = a_test("test_b", Outcome.FAILED, finding=finding())
SKIPPED = a_test("test_c", Outcome.SKIPPED, reason="why")


@pytest.mark.parametrize("results", [run(), run(FAILED, exit_status=1), full()], ids=["empty", "all-failed", "full"])
def test_file_comes_back(results: RunResults, tmp_path: Path) -> None:
    file = tmp_path / "results.json"
    results.save(file)
    assert RunResults.model_validate_json(file.read_text()) == results
    assert [path.name for path in tmp_path.iterdir()] == ["results.json"]


def test_file_reads_without_shakedown(tmp_path: Path) -> None:
    file = tmp_path / "results.json"
    full().save(file)
    content = json.loads(file.read_text())
    assert content["format"] == 1
    assert content["started"] == "2025-01-31T04:05:06Z"
    assert content["verdict"] == "refused"
    assert content["suites"] == ["infra", "perf"]
    assert content["totals"] == {"passed": 2, "finding": 1, "failed": 2, "error": 1, "xfailed": 1, "skipped": 4}
    assert content["tests"][1]["finding"]["remedy"].startswith("ip link")
    assert content["tests"][9]["metrics"][0] == {
        "name": "ttft_s.p90",
        "value": 0.14239,
        "unit": "s",
        "better": "lower",
        "samples": 40,
        "note": "",
    }


@pytest.mark.parametrize(
    ("results", "verdict"),
    [
        (run(), Verdict.EMPTY),
        (run(SKIPPED), Verdict.EMPTY),
        (run(PASSED, SKIPPED), Verdict.ACCEPTED),
        (run(PASSED, exit_status=2), Verdict.INCOMPLETE),
        (run(PASSED, exit_status=3), Verdict.INCOMPLETE),
        (run(PASSED, exit_status=None, finished=None), Verdict.INCOMPLETE),
        (run(PASSED, errors=("test_x.py cannot be collected",)), Verdict.INCOMPLETE),
        (run(PASSED, FAILED, exit_status=1), Verdict.REFUSED),
        (run(FAILED, exit_status=2), Verdict.REFUSED),
        (run(a_test("t", Outcome.ERROR), exit_status=1), Verdict.REFUSED),
        (run(a_test("t", Outcome.FINDING, finding=finding())), Verdict.ACCEPTED),
        (run(exit_status=5), Verdict.EMPTY),
    ],
)
def test_verdict_follows_from_the_tests(results: RunResults, verdict: Verdict) -> None:
    assert results.verdict is verdict


@pytest.mark.parametrize("change", [{"totals": {**run(PASSED).totals, "passed": 2}}, {"verdict": "refused"}])
def test_file_that_contradicts_itself_is_refused(change: dict[str, object]) -> None:
    content = run(PASSED).model_dump(mode="json") | change
    with pytest.raises(ValidationError, match=r"totals do not count|does not follow"):
        RunResults.model_validate(content)


def test_file_of_another_format_is_refused() -> None:
    with pytest.raises(ValidationError, match="format"):
        RunResults.model_validate(run().model_dump(mode="json") | {"format": 2})


def test_times_carry_their_zone() -> None:
    with pytest.raises(ValidationError, match="timezone"):
        run(started=STARTED.replace(tzinfo=None))
    assert run().started.tzinfo == UTC


def test_duration_is_from_start_to_finish() -> None:
    assert run().duration_s == pytest.approx(3.2)
    assert run(finished=None, exit_status=None).duration_s is None


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_metric_that_is_no_number_is_none_with_a_note(value: float) -> None:
    record = MetricRecord.of(Metric("x", value, "s", note="odd"))
    assert (record.value, record.note) == (None, f"odd; measured as {value}")


def test_finding_is_kept_in_all_its_parts() -> None:
    raised = Finding(
        id="NET-01",
        title="t",
        severity=Severity.INFO,
        found="f",
        expected="e",
        symptom="s",
        remedy="r",
        node="n",
        source=("u",),
    )
    record = FindingRecord.of(raised)
    assert all(getattr(record, name) == getattr(raised, name) for name in FindingRecord.model_fields)
