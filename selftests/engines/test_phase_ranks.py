"""Lines tell which rank on which node wrote them, whatever stands before them."""

from __future__ import annotations

from pathlib import Path

import pytest

from shakedown.engines.vllm.phases import PhaseName, PhaseReader, RankState, lines_of, starts_of

LOGS = Path(__file__).parent / "logs"
OTHER = "192.168.200.13"


def ranks_of(log: str) -> dict[int | None, RankState]:
    (start,) = starts_of(log)
    return {rank.rank: rank for rank in start.ranks.values()}


@pytest.mark.parametrize(
    ("sample", "name"),
    [("0.17.1-cold", "RayWorkerWrapper"), ("0.33.0-cold", "Worker_TP{}"), ("0.33.0-json", "VllmWorker-{}")],
)
def test_both_versions_tell_their_ranks_apart(sample: str, name: str) -> None:
    ranks = ranks_of((LOGS / f"vllm-{sample}.txt").read_text())
    assert set(ranks) == {0, 1}
    assert {(rank, one.pid, one.ip) for rank, one in ranks.items()} == {
        (0, 21, None),
        (1, 31, None if "json" in sample else OTHER),
    }
    assert [ranks[rank].name for rank in (0, 1)] == [name.format(rank) for rank in (0, 1)]


def test_each_rank_has_its_own_times() -> None:
    ranks = ranks_of((LOGS / "vllm-0.33.0-cold.txt").read_text())
    model = [next(phase for phase in ranks[rank].phases if phase.name is PhaseName.MODEL) for rank in (0, 1)]
    assert [phase.started_s for phase in model] == [590.0, 598.0]


def test_bars_are_of_rank_0_and_prefetching_is_of_each() -> None:
    log = (LOGS / "vllm-0.33.0-cold.txt").read_text()
    ranks = ranks_of(log[: log.index("Prefetching checkpoint files: 100%")])
    shown = {rank: one.progress for rank, one in ranks.items()}
    assert shown[0] is not None
    assert (shown[0].done, shown[0].total, shown[0].unit) == (8, 39, "shards")
    assert shown[1] is not None
    assert (shown[1].done, shown[1].total, shown[1].unit) == (2, 19, "files")


def test_real_log_in_which_ray_folds_and_shuffles_lines() -> None:
    ranks = ranks_of((LOGS / "vllm-0.32-ray-slow.txt").read_text())
    assert {(rank, one.name, one.ip) for rank, one in ranks.items()} == {
        (0, "Worker_TP0", None),
        (1, "Worker_TP1", OTHER),
    }
    now = ranks[0].now
    assert now is not None
    assert now.name is PhaseName.KV_CACHE


def test_worker_without_ray_has_no_address() -> None:
    ranks = ranks_of("(Worker_TP1 pid=9) INFO 03-02 10:00:00 [x.py:1] Loading weights took 3.0 seconds\n")
    assert [(one.name, one.pid, one.ip) for one in ranks.values()] == [("Worker_TP1", 9, None)]


def test_other_processes_are_no_ranks() -> None:
    assert not ranks_of("(EngineCore pid=8) INFO 03-02 10:00:00 [x.py:1] GPU KV cache size: 12 tokens\n")


@pytest.mark.parametrize("path", sorted(LOGS.glob("*.txt")), ids=lambda path: path.stem)
def test_what_is_known_changes_only_with_lines_that_tell_something(path: Path) -> None:
    reader, before = PhaseReader(), None
    for place, line in enumerate(lines_of(path.read_bytes().decode())):
        told = reader.feed(line, float(place))
        after = reader.start
        assert told or after == before, line
        assert reader.count == len(reader.starts)
        before = after
