"""Why a placement group waits, by the tables of the GCS."""

from __future__ import annotations

import json
from typing import Any

import pytest

from selftests.launch.story import A, B, pair
from shakedown.launch.placement import SECTION, unplaced
from shakedown.launch.stall import Gathered

HEAD, WORKER = "192.168.200.12", "192.168.200.13"


def row(address: str, *, alive: bool = True, total: float = 1.0, free: float = 1.0) -> dict[str, Any]:
    return {
        "id": f"{address}0",
        "alive": alive,
        "address": address,
        "hostname": "somewhere",
        "death": "",
        "resources": {"GPU": total, "CPU": 20.0},
        "available": {"GPU": free} if free else {},
    }


def tables(*rows: dict[str, Any]) -> list[Gathered]:
    answer = {"tables": {"nodes": rows, "groups": [{"id": "4a" * 16, "state": "PENDING"}], "session": "s"}}
    return [Gathered(A, 1.0, f"== {SECTION}\n{json.dumps(answer)}\n"), Gathered(B, 1.0, "== memory\n")]


@pytest.mark.parametrize(
    ("rows", "fault", "node", "found"),
    [
        ([row(HEAD)], "RAY-03", B, f"{B} is not in the cluster; alive there: somewhere as {HEAD}"),
        ([row(HEAD), row(WORKER, alive=False)], "RAY-03", B, "is not in the cluster"),
        ([row(HEAD), row(WORKER, free=0)], "RAY-06", B, "1 of 1 GPU on spark-b are reserved already"),
        ([row(HEAD, total=0, free=0), row(WORKER)], "RAY-06", A, "Ray has 0 GPU on spark-a; 1 are meant"),
    ],
)
def test_what_is_missing_is_named_with_its_node(rows: list[dict[str, Any]], fault: str, node: str, found: str) -> None:
    cause = unplaced(pair(), tables(*rows))
    assert cause is not None
    assert (cause.fault, cause.node) == (fault, node)
    assert found in cause.found
    assert "placement group 4a4a4a4a: PENDING" in cause.evidence


@pytest.mark.parametrize(
    "gathered",
    [
        tables(row(HEAD), row(WORKER)),
        [Gathered(A, 1.0, f"== {SECTION}\nTraceback (most recent call last):\n")],
        [Gathered(A, 1.0, f'== {SECTION}\n{{"tables": null}}\n')],
        [Gathered(A, 1.0, "")],
    ],
)
def test_where_nothing_is_missing_or_known_nothing_is_invented(gathered: list[Gathered]) -> None:
    assert unplaced(pair(), gathered) is None
