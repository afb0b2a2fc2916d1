"""Which deployment a run is about, and when choosing none is an error."""

from __future__ import annotations

import pytest

from selftests.hooks.conftest import EXAMPLE, Run

ONE = """
@pytest.mark.infra
@pytest.mark.check("NET-01", stages=("ray",))
def test_it(deployment, claim): claim(deployment.name == "simulated", found=deployment.name, expected="simulated")
"""


def test_the_option_chooses_a_file(run: Run) -> None:
    run(ONE).assert_outcomes(passed=1)


def test_the_variable_chooses_where_no_option_does(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHAKEDOWN_DEPLOYMENT", str(EXAMPLE))
    run(ONE, deployment="").assert_outcomes(passed=1)


def test_a_file_in_the_working_directory_is_found(run: Run, pytester: pytest.Pytester) -> None:
    (pytester.path / "deployment.toml").write_text(EXAMPLE.read_text())
    run(ONE, deployment="").assert_outcomes(passed=1)


def test_without_a_choice_it_is_the_embedded_one(run: Run) -> None:
    run(ONE.replace('"simulated"', '"embedded"'), deployment="").assert_outcomes(passed=1)


@pytest.mark.parametrize(("options", "ci"), [((), "true"), (("--require-deployment",), "")], ids=["ci", "option"])
def test_no_choice_is_a_usage_error_where_one_is_required(
    run: Run, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...], ci: str
) -> None:
    monkeypatch.setenv("CI", ci)
    result = run(ONE, *options, deployment="")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*no deployment chosen*--deployment FILE*"])


def test_a_bad_file_is_a_usage_error_with_its_own_text(run: Run, pytester: pytest.Pytester) -> None:
    bad = pytester.path / "bad.toml"
    bad.write_text("version = 1\n")
    result = run(ONE, deployment=str(bad))
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*bad.toml*"])


@pytest.mark.parametrize(
    ("deployment", "option"),
    [
        pytest.param(str(EXAMPLE), "--stage=ray", id="stage-of-a-file"),
        pytest.param(str(EXAMPLE), "--simulate=missing-done", id="fault-of-a-file"),
        pytest.param("embedded", "--simulate=missing-done", id="fault-of-embedded"),
        pytest.param("simulated", "--replay=x.json.gz", id="bundle-of-simulated"),
        pytest.param("simulated", "--launch", id="launch-of-simulated"),
        pytest.param("embedded", "--launch", id="launch-of-embedded"),
    ],
)
def test_an_option_that_would_do_nothing_is_a_usage_error(run: Run, deployment: str, option: str) -> None:
    result = run(ONE, option, deployment=deployment)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*{option.partition('=')[0]} goes with *"])
