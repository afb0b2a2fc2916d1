"""Bars of every loader and every capture become counts, and counts never go backwards within one bar."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shakedown.engines.vllm.phases import PhaseName, PhaseReader, Progress

SHARDS = "Loading safetensors checkpoint shards"
BAR = "{}: {:3.0f}% Completed | {}/{} [01:43<06:39, {}]"

BARS = {
    BAR.format(SHARDS, 21, 8, 39, "12.89s/it"): (PhaseName.WEIGHTS, 8, 39, "shards", 12.89),
    BAR.format(SHARDS + " (eager)", 21, 8, 39, " 2.00it/s"): (PhaseName.WEIGHTS, 8, 39, "shards", 0.5),
    BAR.format("Loading pt checkpoint shards", 21, 8, 39, "?it/s"): (PhaseName.WEIGHTS, 8, 39, "shards", None),
    BAR.format("Multi-thread loading shards", 21, 8, 39, "1.00s/it"): (PhaseName.WEIGHTS, 8, 39, "shards", 1.0),
    BAR.format("Multi-thread loading pt checkpoint shards", 21, 8, 39, "1.00s/it"): (
        PhaseName.WEIGHTS, 8, 39, "shards", 1.0,
    ),
    BAR.format("Loading safetensors using Fastsafetensor loader", 50, 10, 20, "1.50s/it"): (
        PhaseName.WEIGHTS, 10, 20, "shards", 1.5,
    ),
    BAR.format("Loading safetensors using Runai Model Streamer", 50, 400, 800, "200.00it/s"): (
        PhaseName.WEIGHTS, 400, 800, "tensors", 0.005,
    ),
    BAR.format("Loading safetensors using InstantTensor loader", 50, "1.50G", "3.00G", "2.00kB/s"): (
        PhaseName.WEIGHTS, 3 * 2**29, 3 * 2**30, "bytes", 1 / 2048,
    ),
    "INFO 03-02 10:00:00 [weight_utils.py:1079] Prefetching checkpoint files: 30% (12/39)": (
        PhaseName.WEIGHTS, 12, 39, "files", None,
    ),
    "Capturing CUDA graphs (mixed prefill-decode, PIECEWISE):  50%|█████     | 26/51 [00:05<00:05,  4.00it/s]": (
        PhaseName.GRAPHS, 26, 51, "graphs", 0.25,
    ),
    "Capturing CUDA graphs (decode, FULL): 100%|██████████| 35/35 [00:05<00:00,  4.00it/s]": (
        PhaseName.GRAPHS, 35, 35, "graphs", 0.25,
    ),
    "Capturing prefill CUDA graphs (FULL):   0%|          | 0/35 [00:00<?, ?it/s]": (
        PhaseName.GRAPHS, 0, 35, "graphs", None,
    ),
    "Capturing multi-module MTP CUDA graphs (PIECEWISE):  50%|█████     | 5/10 [00:05<00:05]": (
        PhaseName.GRAPHS, 5, 10, "graphs", None,
    ),
    "JIT kernel warmup (40 compile keys):  50%|█████     | 6/12 [00:05<00:05,  2.00kernel/s]": (
        PhaseName.WARMUP, 6, 12, "kernels", 0.5,
    ),
    "[AutoTuner]: Tuning fused_moe::gemm1:  50%|█████     | 6/12 [00:05<00:05,  2.00it/s]": (
        PhaseName.WARMUP, 6, 12, "kernels", 0.5,
    ),
}  # fmt: skip


def shown(*lines: str) -> Progress | None:
    reader = PhaseReader()
    for place, line in enumerate(lines):
        reader.feed(line, float(place))
    return reader.start.progress if reader.start else None


@pytest.mark.parametrize("line", BARS, ids=lambda line: line.partition(":")[0])
@pytest.mark.parametrize("prefix", ["", "(RayWorkerProc pid=9) ", "(EngineCore_DP0 pid=8) (RayWorkerWrapper pid=9) "])
def test_bars_of_every_kind(line: str, prefix: str) -> None:
    progress = shown(prefix + line)
    assert progress is not None
    assert progress.seconds_per_item == (pytest.approx(BARS[line][4]) if BARS[line][4] else None)
    assert (progress.phase, progress.done, progress.total, progress.unit) == BARS[line][:4]


def shards(done: int, total: int = 39) -> str:
    return BAR.format(SHARDS, 100 * done / total, done, total, "12.89s/it")


@given(st.lists(st.integers(0, 39), min_size=1, max_size=20))
def test_one_bar_never_goes_backwards(drawn: list[int]) -> None:
    reader, before, ended = PhaseReader(), 0, False
    for done in drawn:
        reader.feed(shards(done), 0.0)
        now = reader.start.progress if reader.start else None
        assert now is not None
        again = ended and done == 0
        assert now.done >= before or again
        before, ended = now.done, now.complete


def test_bar_of_a_draft_model_follows_that_of_the_model() -> None:
    took = "(Worker_TP0 pid=9) INFO 03-02 10:00:00 [default_loader.py:1] Loading weights took 500.1 seconds"
    assert shown(shards(39), took) is None
    drafter = shown(shards(39), took, shards(0, 2))
    assert drafter is not None
    assert (drafter.phase, drafter.done, drafter.total) == (PhaseName.WEIGHTS, 0, 2)
    assert shown(shards(39), took, shards(0, 2), shards(2, 2)) is None


def test_bar_of_another_model_with_as_many_shards_begins_anew() -> None:
    second = shown(shards(39), shards(0), shards(3))
    assert second is not None
    assert second.done == 3


def test_late_last_drawing_does_not_bring_back_a_phase_that_ended() -> None:
    took = "(Worker_TP0 pid=9) INFO 03-02 10:00:00 [default_loader.py:1] Loading weights took 500.1 seconds"
    assert shown(shards(38), took, shards(39)) is None


def test_prefetching_shows_until_shards_are_counted() -> None:
    prefetch = "(Worker_TP0 pid=9) INFO 03-02 10:00:00 [weight_utils.py:1] Prefetching checkpoint files: 30% (12/39)"
    alone, beside = shown(prefetch), shown(prefetch, shards(3), prefetch.replace("12", "20"))
    assert alone is not None
    assert alone.background
    assert beside is not None
    assert beside.done == 3


def test_graphs_that_are_captured_to_be_measured_are_not_the_capture() -> None:
    graphs = "Capturing CUDA graphs (PIECEWISE):  50%|█████     | {}/51 [00:05<00:05,  4.00it/s]"
    head = "(Worker_TP0 pid=9) INFO 03-02 10:00:00 [x.py:1] "
    lines = [head + "Model loading took 57.2 GiB memory and 503.1 seconds", graphs.format(26), graphs.format(51)]
    measured = shown(*lines)
    assert measured is not None
    assert measured.phase is PhaseName.GRAPH_MEMORY
    lines.append(head + "Graph capturing finished in 3 secs, took 0.20 GiB")
    captured = shown(*lines, head + "Available KV cache memory: 24.1 GiB", graphs.format(0))
    assert captured is not None
    assert (captured.phase, captured.done) == (PhaseName.GRAPHS, 0)


def test_line_that_follows_a_bar_without_a_break_is_read_too() -> None:
    reader = PhaseReader()
    bar = "Capturing CUDA graphs (decode, FULL): 100%|██████████| 35/35 [00:05<00:00,  4.00it/s]"
    done = "(Worker_TP1 pid=9) INFO 03-02 10:00:00 [x.py:1] Graph capturing finished in 20 secs, took 1.0 GiB"
    reader.feed(bar + done, 9.0)
    assert reader.start is not None
    assert reader.start.facts.graph_s == 20.0
    assert [rank.name for rank in reader.ranks.values()] == ["Worker_TP1"]
    assert reader.start.progress is not None


@pytest.mark.parametrize("numbers", ["9/9999999999999999", "3/2", "1/0", "1.2.3G/4G", "-1/3"])
def test_numbers_that_are_none_count_nothing(numbers: str) -> None:
    assert shown(f"{SHARDS}:  21% Completed | {numbers} [01:43<06:39, 1.0s/it]") is None
