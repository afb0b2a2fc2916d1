"""Every check has a fault that was seen to make it fire; one of each mechanism is seen again here."""

from __future__ import annotations

from pathlib import Path

import pytest

from selftests.proofs import record
from selftests.proofs.claims import PAGE, current_page, unproved
from selftests.proofs.faults import CLEAN, FAULTS, fault
from selftests.proofs.model import Clean, Fault
from selftests.proofs.observe import observe, observe_clean
from shakedown.faults.catalogue import catalogue
from shakedown.faults.checks import declared_checks

REPRESENTATIVES = ("bundle-monitor-on-worker", "leaked-end-tag", "errors-under-load", "fabric-nic-down")


@pytest.mark.embedded
@pytest.mark.parametrize("name", REPRESENTATIVES)
def test_a_fault_fires_exactly_what_it_declares(name: str, tmp_path: Path) -> None:
    declared = fault(name)
    seen = observe(declared, tmp_path)
    assert seen.failed == declared.expected, seen.text
    assert not seen.broken, seen.text


@pytest.mark.parametrize("clean", [one for one in CLEAN if one.mechanism != "embedded"], ids=lambda clean: clean.name)
def test_a_healthy_deployment_fires_nothing(clean: Clean, tmp_path: Path) -> None:
    seen = observe_clean(clean, tmp_path)
    assert not seen.failed | seen.broken, seen.text
    assert seen.passed, seen.text


def test_every_mechanism_has_its_representative() -> None:
    assert {fault(name).mechanism for name in REPRESENTATIVES} == {one.mechanism for one in FAULTS}


def test_faults_have_names_of_their_own() -> None:
    declared: tuple[Fault | Clean, ...] = (*FAULTS, *CLEAN)
    names = [one.name for one in declared]
    assert len(names) == len(set(names))


def test_every_check_of_every_suite_is_proved() -> None:
    assert unproved(declared_checks(), list(record.load().proofs.values())) == []


def test_every_declared_fault_and_clean_run_was_observed_and_holds() -> None:
    proofs = record.load().proofs
    declared: tuple[Fault | Clean, ...] = (*FAULTS, *CLEAN)
    assert set(proofs) == {one.name for one in declared}
    assert [name for name, proof in proofs.items() if not proof.holds] == []
    stale = [one.name for one in FAULTS if proofs[one.name].expected != sorted(one.expected)]
    assert stale == [], "declared otherwise since they were observed: run `make proofs`"


def test_the_page_of_claims_says_what_was_observed() -> None:
    assert PAGE.read_text(encoding="utf-8") == current_page(), "run `make docs`"


def test_every_check_is_in_the_catalogue_and_makes_one_claim() -> None:
    for check in declared_checks():
        assert check.id in catalogue(), check
        assert check.claim, f"{check.test} has no docstring"
