"""Waivers in a deployment file: complete, about a node that is declared, with a day on which they end."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from selftests.inventory.files import GOOD, refusal
from shakedown.inventory.load import load_deployment

WAIVER = """\
[[waiver]]
id = "NET-07"
node = "spark-b"
reason = "until the new switch"
until = 2026-12-31
"""


def test_a_waiver_is_read(tmp_path: Path) -> None:
    file = tmp_path / "deployment.toml"
    file.write_text(GOOD + WAIVER)
    (waiver,) = load_deployment(file).waiver
    assert (waiver.id, waiver.node, waiver.until) == ("NET-07", "spark-b", date(2026, 12, 31))


def test_a_file_without_waivers_has_none(tmp_path: Path) -> None:
    file = tmp_path / "deployment.toml"
    file.write_text(GOOD)
    assert load_deployment(file).waiver == ()


@pytest.mark.parametrize(
    ("node", "covered"),
    [(None, ("spark-a", "spark-b", None)), ('"spark-b"', ("spark-b",)), ('"spark-a"', ("spark-a",))],
)
def test_a_waiver_covers_its_node_or_all(node: str | None, covered: tuple[str | None, ...], tmp_path: Path) -> None:
    file = tmp_path / "deployment.toml"
    file.write_text(GOOD + WAIVER.replace('node = "spark-b"\n', f"node = {node}\n" if node else ""))
    (waiver,) = load_deployment(file).waiver
    assert {place for place in ("spark-a", "spark-b", None) if waiver.covers("NET-07", place)} == set(covered)
    assert not waiver.covers("NET-01", "spark-b")


REFUSED = {
    "no id of a finding": (('"NET-07"', '"net 7"'), "waiver[0].id: found", "an id as it stands in a finding"),
    "an unknown node": (('"spark-b"', '"spark-c"'), "waiver[0].node: found", "a declared node: spark-a, spark-b"),
    "no reason": (("until the new switch", ""), "waiver[0].reason: found", "one line of printable text"),
    "no day": (("until = 2026-12-31\n", ""), "waiver[0].until: missing", "it is required"),
    "a time": (("2026-12-31", "2026-12-31T08:00:00"), "waiver[0].until: found", "a date without a time"),
    "no date": (("2026-12-31", '"soon"'), 'waiver[0].until: found "soon"', "a date, such as 2026-12-31"),
    "a number": (("2026-12-31", "20261231"), "waiver[0].until: found", "a date, such as 2026-12-31"),
}


@pytest.mark.parametrize(("change", "where", "allowed"), REFUSED.values(), ids=list(REFUSED))
def test_a_waiver_that_says_too_little_is_refused(
    change: tuple[str, str], where: str, allowed: str, tmp_path: Path
) -> None:
    assert WAIVER.count(change[0]) == 1
    told = refusal(GOOD + WAIVER.replace(*change), tmp_path)
    assert where in told
    assert allowed in told
    assert told.count("\n") == 0


def test_two_of_a_kind_are_refused(tmp_path: Path) -> None:
    told = refusal(GOOD + WAIVER + WAIVER, tmp_path)
    assert "waiver[1]: the same id and node as waiver[0]" in told
