"""The faults that the infra suite finds: every check has its proof, every id its explanation."""

from __future__ import annotations

import pytest
from typer import Typer
from typer.testing import CliRunner

from selftests.proofs.faults import FAULTS
from shakedown.errors import CatalogueError
from shakedown.faults.catalogue import lookup
from shakedown.faults.checks import declared_checks
from shakedown.faults.cli import explain

CHECKS = {check.id for check in declared_checks() if check.test.startswith("tests_infra/")}


def test_every_check_is_proved_by_a_changed_bundle() -> None:
    assert {fault.check for fault in FAULTS if fault.mechanism == "bundle" and fault.suite == "infra"} == CHECKS


def test_explain_tells_what_to_do() -> None:
    app = Typer()
    app.command()(explain)
    text = CliRunner().invoke(app, ["mem-01"]).output
    for part in ("MEM-01", "What it looks like", "RAY_memory_monitor_refresh_ms=0 ray start", "Sources"):
        assert part in text


def test_an_unknown_id_names_its_family() -> None:
    with pytest.raises(CatalogueError, match="MEM-01"):
        lookup("MEM-99")
