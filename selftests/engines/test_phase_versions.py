"""The oldest and the newest version, cold, warm, eager and as JSON: every phase shows itself, every fact is told."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from shakedown.engines.vllm.phases import WORDS, Beginning, PhaseName, PhaseReader, Start, lines_of, starts_of

LOGS = Path(__file__).parent / "logs"
SAMPLES = sorted(LOGS.glob("*.txt"))

COMMON = {
    "model": "/models/qwen",
    "world_size": 2,
    "init_method": "tcp://192.168.200.12:41213",
    "weights_s": 507.9,
    "weights_gib": 57.3,
    "model_s": 509.5,
    "kv_gib": 24.0,
    "kv_tokens": 812_000,
    "max_concurrency": 12.39,
    "engine_s": 123.0,
    "address": "http://0.0.0.0:30000",
}
GRAPHS = {"graph_gib": 1.04, "graph_s": 20.0}
NEWER = {"version": "0.33.0", "checkpoint_gib": 114.4}
FACTS: dict[str, dict[str, Any]] = {
    "0.17.1-cold": {"version": "0.17.1", "download_s": 38.25, "compile_s": 70.1, "compile_cached": False, **GRAPHS},
    "0.17.1-warm": {"version": "0.17.1", "compile_s": 9.41, "compile_cached": True, **GRAPHS},
    "0.17.1-eager": {"version": "0.17.1", "eager": True},
    "0.33.0-cold": {**NEWER, "compile_s": 70.1, "compile_cached": False, "graph_estimate_gib": 1.21, **GRAPHS},
    "0.33.0-warm": {**NEWER, "compile_s": 2.31, "compile_cached": True, "graph_estimate_gib": 1.21, **GRAPHS},
    "0.33.0-eager": {**NEWER, "eager": True},
    "0.33.0-json": {**NEWER, "compile_s": 70.1, "compile_cached": False, "graph_estimate_gib": 1.21, **GRAPHS},
}
COMPILED = {PhaseName.COMPILE, PhaseName.GRAPH_MEMORY, PhaseName.WARMUP, PhaseName.GRAPHS}
ABSENT = {
    "0.17.1-cold": {PhaseName.GRAPH_MEMORY},
    "0.17.1-warm": {PhaseName.GRAPH_MEMORY, PhaseName.WARMUP},
    "0.17.1-eager": COMPILED,
    "0.33.0-cold": set(),
    "0.33.0-warm": set(),
    "0.33.0-eager": COMPILED,
    "0.33.0-json": {PhaseName.RAY, PhaseName.WORKERS},  # one machine, without Ray
}


def start_of(sample: str) -> Start:
    (start,) = starts_of((LOGS / f"vllm-{sample}.txt").read_bytes().decode())
    return start


@pytest.mark.parametrize("sample", FACTS)
def test_every_phase_shows_itself(sample: str) -> None:
    start = start_of(sample)
    assert {phase.name for phase in start.phases} == set(PhaseName) - ABSENT[sample]
    assert start.beginning is Beginning.SERVER
    assert start.total_s == 730.0


@pytest.mark.parametrize("sample", FACTS)
def test_every_fact_is_told(sample: str) -> None:
    told = {name: value for name, value in asdict(start_of(sample).facts).items() if value is not None}
    assert told == {**COMMON, **FACTS[sample]}


def test_phases_begin_when_their_lines_say() -> None:
    assert {phase.name.name: phase.started_s for phase in start_of("0.33.0-cold").phases} == {
        "PROCESS": 0.0,
        "CONFIG": 10.0,
        "ENGINE": 20.0,
        "RAY": 22.0,
        "WORKERS": 23.0,
        "C10D": 40.0,
        "NCCL": 41.0,
        "GROUPS": 50.0,
        "WEIGHTS": 51.0,
        "MODEL": 590.0,
        "PROFILE": 599.0,
        "COMPILE": 605.0,
        "GRAPH_MEMORY": 677.0,
        "KV_CACHE": 680.0,
        "WARMUP": 682.0,
        "GRAPHS": 691.0,
        "ENGINE_READY": 723.0,
        "API": 730.0,
        "READY": 730.0,
    }


def test_phase_that_only_its_end_tells_of_begins_as_long_ago_as_it_says() -> None:
    log = (LOGS / "vllm-0.17.1-warm.txt").read_text()
    without_bars = "\n".join(line for line in lines_of(log) if "Capturing" not in line)
    (start,) = starts_of(without_bars)
    graphs = start.phase(PhaseName.GRAPHS)
    assert graphs is not None
    assert graphs.started_s == 702.0


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_every_line_that_means_something_holds_a_word(path: Path) -> None:
    log = path.read_bytes().decode()
    whole, sifted = PhaseReader(), PhaseReader()
    for place, line in enumerate(lines_of(log)):
        held = any(word in line for word in WORDS)
        assert whole.feed(line, float(place)) <= held
        if held:
            sifted.feed(line, float(place))
    assert whole.starts
    assert sifted.starts == whole.starts


LATER = {
    "Started a local Ray instance. View the dashboard at http://127.0.0.1:8265": PhaseName.RAY,
    "Compile and warming up model for size 8192": PhaseName.WARMUP,
    "Warming up FlashInfer attention.": PhaseName.WARMUP,
    "Warming up Qwen GDN Triton kernels for model_type=qwen3_next.": PhaseName.WARMUP,
    "Warming up model for the compilation...": PhaseName.WARMUP,
    "Starting to load model /m...": PhaseName.WEIGHTS,
    "Using cache directory: /c for vLLM's torch.compile": PhaseName.COMPILE,
    "[eagle_head] Using cache directory: /c for vLLM's torch.compile": PhaseName.COMPILE,
    "vLLM's torch.compile cache is disabled.": PhaseName.COMPILE,
    "torch.compile and initial profiling/warmup run together took 80.10 s in total": PhaseName.COMPILE,
    "Directly load the compiled graph(s) for compile range (1, 8192) from the cache, took 1.5 s": PhaseName.COMPILE,
    "Initial free memory 117.02 GiB, reserved 24.0 GiB memory for KV Cache as specified by": PhaseName.KV_CACHE,
    "Explicitly set (0.25/13.59) GiB for KV cache on node 0.": PhaseName.KV_CACHE,
    "GPU + host KV cache size: 812,000 tokens, Maximum concurrency for 4,096 tokens": PhaseName.KV_CACHE,
    "init engine (profile, create kv cache, warmup model) took 9.10 s (compilation: 3.00 s — language_model: 2.00 s, "
    "encoder: 1.00 s)": PhaseName.ENGINE_READY,
    "Starting vLLM server on unix:/tmp/s": PhaseName.API,
    "Starting vLLM API server 0 on http://0.0.0.0:8000": PhaseName.API,
}  # fmt: skip


def test_banner_without_the_logo_tells_version_and_model() -> None:
    (start,) = starts_of("INFO 03-02 10:00:00 [x.py:1] vLLM server version 0.33.0, serving model /models/qwen\n")
    assert start.beginning is Beginning.SERVER
    assert (start.facts.version, start.facts.model) == ("0.33.0", "/models/qwen")


def test_kernels_tuned_while_memory_is_profiled_are_not_the_warm_up() -> None:
    head = "(Worker_TP0 pid=9) INFO 03-02 10:00:0{} [x.py:1] "
    messages = ("Model loading took 5.0 GiB memory and 9.0 seconds", "Warming up FlashInfer attention.")
    log = "\n".join(head.format(place) + message for place, message in enumerate(messages))
    (start,) = starts_of(log)
    assert [phase.name for phase in start.phases] == [PhaseName.PROFILE]
    (later,) = starts_of(f"{log}\n{head.format(3)}Available KV cache memory: 2.0 GiB")
    assert [phase.name for phase in later.phases] == [PhaseName.PROFILE, PhaseName.KV_CACHE]


@pytest.mark.parametrize("message", LATER)
def test_other_wordings(message: str) -> None:
    (start,) = starts_of(f"(EngineCore pid=8) INFO 03-02 10:00:00 [core.py:1] {message}\n")
    assert [phase.name for phase in start.phases] == [LATER[message]]
    assert start.beginning is Beginning.MIDDLE
