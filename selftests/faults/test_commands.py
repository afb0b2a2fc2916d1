"""`faults` and `explain`, as a user types them: from any folder, with no deployment."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from shakedown.faults.catalogue import known_faults, lookup
from shakedown.faults.checks import ROOT, declared_checks


def said(folder: Path, *arguments: str) -> str:
    command = [sys.executable, "-m", "shakedown", *arguments]
    done = subprocess.run(
        command, cwd=folder, env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=True
    )
    return done.stdout


def test_the_list_has_a_line_for_every_fault_and_their_number(tmp_path: Path) -> None:
    lines = said(tmp_path, "faults").splitlines()
    assert lines[0].split() == ["id", "severity", "phase", "status", "checks", "title"]
    assert [line.split()[0] for line in lines[1:-2]] == [entry.id for entry in known_faults()]
    assert lines[-1].startswith(f"{len(known_faults())} faults: ")


def test_json_names_the_tests_of_every_fault(tmp_path: Path) -> None:
    listed = {fact["id"]: fact for fact in json.loads(said(tmp_path, "faults", "--json"))}
    assert {"id", "severity", "phase", "status", "checks", "title"} <= set(listed["MEM-01"])
    tests = {test for fact in listed.values() for test in fact["checks"]}
    infra = [check for check in declared_checks() if check.test.startswith("tests_infra/")]
    assert tests >= {check.test for check in infra if lookup(check.id).kind == "fault"}
    assert listed["NET-17"]["status"] != "checked" or listed["NET-17"]["checks"]


def test_explain_tells_what_finds_it_and_where_it_shows(tmp_path: Path) -> None:
    checked = said(tmp_path, "explain", "MEM-01")
    assert "Found by\n  tests_infra/" in checked
    assert "killed due to the node running low on memory  (root)" in checked
    assert "Where it shows\n" in said(
        tmp_path, "explain", next(entry.id for entry in known_faults() if entry.seen_in).lower()
    )


def test_a_check_of_a_served_model_has_no_time_before_a_launch(tmp_path: Path) -> None:
    assert "before the launch" not in said(tmp_path, "explain", "ID-01")
