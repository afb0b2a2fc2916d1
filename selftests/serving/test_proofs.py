"""Every serving check has a fault of the simulator that it is proved by, and every such fault exists."""

from __future__ import annotations

import re
from pathlib import Path

from selftests.proofs.simulator_serving import FAULTS
from shakedown.faults.catalogue import catalogue
from shakedown.simulator.faults.registry import FAULTS as SIMULATED

ROOT = Path(__file__).parents[2]
DECLARED = re.compile(r'\.check\(\s*"([A-Z]+-\d+)"')


def checks() -> set[str]:
    files = (ROOT / "tests_serving").glob("test_*.py")
    return {id for file in files for id in DECLARED.findall(file.read_text(encoding="utf-8"))}


def test_every_check_has_a_fault_that_is_about_it() -> None:
    assert checks() == {fault.check for fault in FAULTS}


def test_every_fault_is_one_of_the_simulator_and_declared_once() -> None:
    names = [fault.name for fault in FAULTS]
    assert len(names) == len(set(names))
    assert set(names) <= set(SIMULATED)


def test_every_check_stands_in_the_catalogue_as_one() -> None:
    assert all(catalogue()[id].kind == "check" for id in checks())
