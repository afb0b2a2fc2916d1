"""The record of earlier launches: what is kept, what counts, and what a torn file does."""

from __future__ import annotations

import itertools
import json
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from selftests.launch.story import pair
from shakedown.launch.history import FILE, KEPT, MOST_LINES, History, Kind, Launched, kind_of

KIND = Kind(model="/models/x", image="img", flags={"tensor_parallel": "2"}, engine="vllm 0.33.0")


HOURS = itertools.count()


def launched(total_s: float = 100.0, kind: Kind = KIND, **phases: float) -> Launched:
    """One an hour: what goes on at the same time on one deployment is one launch."""
    ended = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(hours=next(HOURS))
    return Launched(ended=ended, kind=kind, phases_s=phases or {"WEIGHTS": total_s}, total_s=total_s)


@pytest.fixture
def history(tmp_path: Path) -> History:
    return History(tmp_path / "state" / FILE)


def test_what_was_added_is_read_again(history: History) -> None:
    history.add(launched(100.0))
    history.add(launched(120.0))
    assert [one.total_s for one in history.launches(KIND)] == [100.0, 120.0]


def test_a_launch_that_two_have_followed_is_recorded_once(history: History) -> None:
    first = launched(100.0)
    history.add(first)
    history.add(first.model_copy(update={"ended": first.ended + timedelta(seconds=3), "total_s": 99.0}))
    history.add(first.model_copy(update={"ended": first.ended + timedelta(seconds=101)}))
    assert [one.total_s for one in history.launches(KIND)] == [100.0, 100.0]


def test_a_missing_file_is_an_empty_record(history: History) -> None:
    assert history.launches(KIND) == ()


@pytest.mark.parametrize(
    "change",
    [{"model": "/models/y"}, {"image": "other"}, {"flags": {"tensor_parallel": "4"}}, {"engine": "vllm 0.17.1"}],
)
def test_only_launches_of_the_same_kind_count(history: History, change: dict[str, object]) -> None:
    history.add(launched(kind=KIND.model_copy(update=change)))
    assert history.launches(KIND) == ()


def test_before_the_engine_has_said_its_version_any_counts(history: History) -> None:
    history.add(launched())
    assert len(history.launches(KIND.model_copy(update={"engine": ""}))) == 1


def test_a_torn_line_costs_that_line_and_no_other(history: History, tmp_path: Path) -> None:
    history.add(launched(100.0))
    file = tmp_path / "state" / FILE
    with file.open("a") as out:
        out.write('{"kind": {"model": "/mod')
    history.add(launched(120.0))
    file.write_bytes(file.read_bytes() + b'\xff\xfe\n[1, 2]\n{"kind": 3}\n')
    assert [one.total_s for one in history.launches(KIND)] == [100.0, 120.0]


def test_only_the_newest_count(history: History) -> None:
    for total in range(KEPT + 5):
        history.add(launched(float(total)))
    assert [one.total_s for one in history.launches(KIND)] == [float(total) for total in range(5, KEPT + 5)]


def test_the_file_stays_bounded_and_keeps_what_counts(history: History, tmp_path: Path) -> None:
    rare = KIND.model_copy(update={"model": "/models/rare"})
    history.add(launched(1.0, rare))
    file = tmp_path / "state" / FILE
    file.write_text(file.read_text() + (launched(2.0).model_dump_json() + "\n") * MOST_LINES)
    history.add(launched(3.0))
    assert len(file.read_text().splitlines()) == KEPT + 1
    assert [one.total_s for one in history.launches(rare)] == [1.0]
    assert history.launches(KIND)[-1].total_s == 3.0


def test_writers_at_the_same_time_lose_nothing(history: History, tmp_path: Path) -> None:
    threads = [threading.Thread(target=history.add, args=(launched(float(number)),)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    lines = (tmp_path / "state" / FILE).read_text().splitlines()
    assert sorted(json.loads(line)["total_s"] for line in lines) == [float(number) for number in range(12)]


def test_the_kind_of_a_deployment_holds_what_decides_how_long_it_takes() -> None:
    deployment = pair()
    kind = kind_of(deployment, "0.33.0")
    assert kind.engine == "vllm 0.33.0"
    assert kind.model == "/models/Qwen3.5-122B-A10B-FP8"
    assert kind.flags["tensor_parallel"] == "2"
    eager = deployment.model_copy(update={"serve": deployment.serve.model_copy(update={"enforce_eager": True})})
    assert not kind_of(eager, "0.33.0").equals(kind)


def test_a_record_lies_with_the_deployment_s_baselines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    History.of(pair()).add(launched(kind=kind_of(pair())))
    assert (tmp_path / "reports/baselines/spark-pair" / FILE).is_file()
