"""Markers are read from the source: whatever way of writing stages a test uses, and without importing it."""

from __future__ import annotations

from pathlib import Path

import pytest

from shakedown.errors import CatalogueError
from shakedown.faults.checks import Declared, declared_checks
from shakedown.outcomes import Stage

SOURCE = '''
import not_installed_anywhere

CLUSTER = ("ray", "serving")

@pytest.mark.check("AAA-01", stages=("hosts",))
def test_plain(claim):
    """Every node
    is up.

    And a reason."""

@pytest.mark.requires("serve log")
@pytest.mark.check("AAA-02", stages=("hosts", *CLUSTER), needs=("AAA-01",), tier=2)
async def test_starred(claim): ...

@pytest.mark.check("AAA-03", stages=CLUSTER)
def test_constant(claim): ...

@pytest.mark.check(chosen, stages=CLUSTER)
def test_not_literal(claim): ...

def helper(): ...
'''


def test_what_a_file_declares(tmp_path: Path) -> None:
    (tmp_path / "tests_infra").mkdir()
    (tmp_path / "tests_infra" / "test_it.py").write_text(SOURCE)
    file = "tests_infra/test_it.py"
    assert declared_checks(tmp_path) == (
        Declared("AAA-01", f"{file}::test_plain", "Every node is up.", (Stage.HOSTS,)),
        Declared("AAA-02", f"{file}::test_starred", "", (Stage.HOSTS, Stage.RAY, Stage.SERVING), tier=2),
        Declared("AAA-03", f"{file}::test_constant", "", (Stage.RAY, Stage.SERVING)),
    )


def test_without_the_suites_it_says_what_to_install(tmp_path: Path) -> None:
    with pytest.raises(CatalogueError, match="from its checkout"):
        declared_checks(tmp_path)


def test_when_names_the_option_that_it_takes() -> None:
    assert Declared("AAA-01", "t", "", (Stage.HOSTS, Stage.RAY), tier=1).when == "hosts, ray, with --tier 1"
