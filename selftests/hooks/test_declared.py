"""The marker `check`, and the order that its `needs` ask for."""

from __future__ import annotations

import pytest

from selftests.hooks.conftest import Run


def test_what_a_check_needs_runs_before_it_wherever_it_stands(run: Run) -> None:
    result = run(
        """
        pytestmark = pytest.mark.infra
        @pytest.mark.check("RAY-01", stages=("ray",), needs=("NET-01",))
        def test_behind(claim): claim(True, found="", expected="")
        @pytest.mark.check("NET-01", stages=("ray",))
        def test_before(claim): claim(True, found="", expected="")
        """
    )
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["*test_before*", "*test_behind*"])


def test_suites_run_in_the_order_infra_serving_perf(run: Run) -> None:
    result = run(
        """
        @pytest.mark.perf
        @pytest.mark.check("NET-01", stages=("serving",))
        def test_c(claim): claim(True, found="", expected="")
        @pytest.mark.serving
        @pytest.mark.check("NET-01", stages=("serving",))
        def test_b(claim): claim(True, found="", expected="")
        @pytest.mark.infra
        @pytest.mark.check("NET-01", stages=("serving",))
        def test_a(claim): claim(True, found="", expected="")
        """,
        stage="serving",
    )
    result.stdout.fnmatch_lines(["*test_a*", "*test_b*", "*test_c*"])


@pytest.mark.parametrize(
    ("marker", "message"),
    [
        pytest.param('"XYZ-99", stages=("ray",)', "*'XYZ-99' is not in the catalogue*", id="unknown-id"),
        pytest.param('"NET-01"', "*missing*stages*the marker is check(*", id="no-stages"),
        pytest.param('"NET-01", stages=("launch",)', "*'launch' is not a valid Stage*", id="unknown-stage"),
        pytest.param('"NET-01", stages="ray"', "*stages and needs are tuples*", id="not-a-tuple"),
        pytest.param('"NET-01", stages=("ray",), tier=3', "*tier 3 is none of 0, 1, 2*", id="tier"),
        pytest.param('"NET-01", stages=("ray",), severity="bad"', "*'bad' is not a valid Severity*", id="severity"),
    ],
)
def test_a_wrong_marker_is_a_usage_error_that_shows_the_signature(run: Run, marker: str, message: str) -> None:
    result = run(
        f"""
        @pytest.mark.infra
        @pytest.mark.check({marker})
        def test_it(claim): claim(True, found="", expected="")
        """
    )
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([message])


def test_a_suite_test_without_a_check_is_a_usage_error(run: Run) -> None:
    result = run("@pytest.mark.infra\ndef test_it(): pass\n")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*test_it declares no check*"])


def test_checks_that_need_each_other_are_a_usage_error(run: Run) -> None:
    result = run(
        """
        pytestmark = pytest.mark.infra
        @pytest.mark.check("RAY-01", stages=("ray",), needs=("NET-01",))
        def test_a(claim): claim(True, found="", expected="")
        @pytest.mark.check("NET-01", stages=("ray",), needs=("RAY-01",))
        def test_b(claim): claim(True, found="", expected="")
        """
    )
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*need each other*"])
