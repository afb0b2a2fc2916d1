"""The catalogue is whole: every check has its entry, every status is true, every signature speaks of faults only."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from selftests.faults.page import FAMILIES, PAGE, current_page
from shakedown.errors import CatalogueError
from shakedown.faults.catalogue import FOLDER, Entry, catalogue, known_faults
from shakedown.faults.checks import checks_of, declared_checks
from shakedown.outcomes import Stage

FAULTS = known_faults()
BY_ID = [pytest.param(entry, id=entry.id) for entry in FAULTS]
PUBLIC = re.compile(r"https://[a-z0-9.-]+\.[a-z]+/\S+")

COUNTS = {"RAY": 17, "MEM": 16, "NET": 21, "ENV": 10, "PLT": 11, "MOD": 9, "SRV": 12}
"""Numbers of a family run without a gap, so that none is lost in a merge."""


def test_every_family_is_whole() -> None:
    ids = {entry.id for entry in FAULTS}
    assert ids >= {f"{family}-{number:02}" for family, count in COUNTS.items() for number in range(1, count + 1)}
    assert {id.split("-")[0] for id in ids} == set(FAMILIES)


def test_every_check_names_an_entry() -> None:
    assert [check for check in declared_checks() if check.id not in catalogue()] == []


def test_every_check_says_at_which_stages() -> None:
    assert [check.test for check in declared_checks() if not check.stages] == []


@pytest.mark.parametrize("entry", BY_ID)
def test_status_is_what_the_suites_do(entry: Entry) -> None:
    """``checked`` and ``predicted`` have a check that can speak before a launch; the other two have none."""
    found_before = [check for check in checks_of(entry.id) if check.test.startswith("tests_infra/")]
    assert bool(found_before) == (entry.status in ("checked", "predicted")), found_before
    assert not found_before or any({Stage.HOSTS, Stage.RAY} & {*check.stages} for check in found_before)


@pytest.mark.parametrize("entry", BY_ID)
def test_every_fault_has_a_public_source(entry: Entry) -> None:
    assert any(PUBLIC.match(source) for source in entry.sources)


def test_a_root_line_belongs_to_one_fault() -> None:
    """Where one line has several causes, one entry has it and names the others: a diagnosis must not waver."""
    patterns = [signature.pattern for entry in FAULTS for signature in entry.signatures if signature.kind == "root"]
    assert sorted(set(patterns)) == sorted(patterns)


def test_files_are_in_the_order_of_their_ids() -> None:
    for file in FOLDER.glob("*.toml"):
        ids = [table["id"] for table in tomllib.loads(file.read_text())["entry"] if table["kind"] == "fault"]
        assert ids == sorted(ids), file.name


def test_a_watched_fault_must_say_where(tmp_path: Path) -> None:
    text = (FOLDER / "ray.toml").read_text()
    (tmp_path / "ray.toml").write_text(re.sub(r"(?m)^seen_in = .*\n", "", text))
    with pytest.raises(CatalogueError, match=r"(?s)ray.toml: entry RAY-.*seen_in does not say"):
        catalogue(tmp_path)


def test_the_page_is_in_step() -> None:
    assert PAGE.read_text(encoding="utf-8") == current_page()
