"""Phases of a start come out of the logs of old and new versions, cut anywhere, whatever stands between the lines."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shakedown.engines.vllm.phases import WORDS, Beginning, PhaseName, PhaseReader, Start, lines_of, starts_of

LOGS = Path(__file__).parent / "logs"
"""Shortened to the lines that mean something, in the wording of each version."""

OLD = (LOGS / "vllm-0.17-graphs.txt").read_text()
NEW_EAGER = (LOGS / "vllm-0.32-eager.txt").read_text()


RAY_CPU = (LOGS / "vllm-0.32-ray-cpu.txt").read_text()
"""As the embedded deployment wrote it: Ray's workers are buffered, so their bar comes in 16 s early."""

SLOW = (LOGS / "vllm-0.32-ray-slow.txt").read_text()
"""The same with a slow load: Ray shows the bar before any other line of the workers, and those in disorder."""


def seconds(log: str) -> dict[str, float | None]:
    (start,) = starts_of(log)
    return {phase.name.name: phase.took_s for phase in start.phases}


def loaded(start: Start) -> tuple[int, int]:
    return (start.weights.done, start.weights.total) if start.weights else (0, 0)


def test_log_of_an_old_version_with_graphs() -> None:
    assert seconds(OLD) == {
        "PROCESS": 20.0,
        "ENGINE": 2.0,
        "RAY": 18.0,
        "C10D": 1.0,
        "NCCL": 9.0,
        "WEIGHTS": 500.0,
        "MODEL": 2.0,
        "PROFILE": 8.0,
        "COMPILE": 71.0,
        "KV_CACHE": 1.0,
        "GRAPHS": 21.0,
        "ENGINE_READY": 6.0,
        "API": 1.0,
        "READY": None,
    }
    (start,) = starts_of(OLD)
    assert start.total_s == 660.0
    assert loaded(start) == (39, 39)
    assert start.first_stamp == "03-02 10:00:00"
    assert start.version == "0.17.1"


def test_log_of_a_new_version_without_graphs_over_new_year() -> None:
    (start,) = starts_of(NEW_EAGER)
    assert [phase.name.name for phase in start.phases] == [
        "PROCESS", "ENGINE", "RAY", "C10D", "WEIGHTS", "MODEL", "KV_CACHE", "ENGINE_READY", "API", "READY",
    ]  # fmt: skip
    assert start.total_s == 29.0
    assert loaded(start) == (39, 39)


def test_bar_that_comes_in_ahead_of_its_stamped_lines_begins_nothing() -> None:
    assert seconds(RAY_CPU) == {
        "PROCESS": 10.0,
        "CONFIG": 11.0,
        "ENGINE": 0.0,
        "RAY": 0.0,
        "WORKERS": 16.0,
        "C10D": 0.0,
        "GROUPS": 0.0,
        "WEIGHTS": 0.0,
        "MODEL": 2.0,
        "KV_CACHE": 1.0,
        "ENGINE_READY": 2.0,
        "API": 0.0,
        "READY": None,
    }
    (start,) = starts_of(RAY_CPU)
    assert start.total_s == 42.0
    assert start.version == "0.32.0"
    assert loaded(start) == (39, 39)


@pytest.mark.parametrize("log", [OLD, NEW_EAGER, RAY_CPU], ids=["old", "new-eager", "ray-cpu"])
def test_log_sifted_by_words_tells_the_same(log: str) -> None:
    sifted = "\n".join(line for line in lines_of(log) if any(word in line for word in WORDS))
    (whole,), (start,) = starts_of(log), starts_of(sifted)
    assert [phase.name for phase in start.phases] == [phase.name for phase in whole.phases]
    assert start.weights == whole.weights
    assert start.total_s is not None
    assert whole.total_s is not None
    assert abs(start.total_s - whole.total_s) <= 1.0


def test_request_that_quotes_the_log_begins_no_start() -> None:
    quoted = 'INFO: 10.0.0.1 - "POST /x?non-default args: {} HTTP/1.1" 200 OK\n'
    assert starts_of(OLD + quoted) == starts_of(OLD)


def test_colours_and_carriage_returns_change_nothing() -> None:
    coloured = OLD.replace("(APIServer pid=7)", "\x1b[1;36m(APIServer pid=7)\x1b[0;0m")
    assert starts_of(coloured) == starts_of(OLD)
    assert starts_of(OLD.replace("it]\n", "it]\r").replace("\n", "\r\n")) == starts_of(OLD)


def test_log_that_was_appended_to_tells_of_every_start() -> None:
    later = NEW_EAGER.replace("12-31 23:59", "05-01 08:59").replace("01-01 00:00", "05-01 09:00")
    first, second = starts_of(OLD + later)
    assert (first.total_s, second.total_s) == (660.0, 29.0)
    assert second.first_stamp == "05-01 08:59:40"


def test_start_that_died_while_loading_has_no_total() -> None:
    (start,) = starts_of(OLD[: OLD.index("100% Completed")])
    assert start.total_s is None
    assert loaded(start) == (8, 39)
    weights = start.phase(PhaseName.WEIGHTS)
    assert weights is not None
    assert weights.took_s is None


def test_late_line_of_the_other_node_does_not_turn_the_start_back() -> None:
    api = "(APIServer pid=7) INFO 03-02 10:10:59"
    late = OLD.replace(api, f"(Worker_TP1 pid=9) INFO 03-02 10:10:58 Starting to load model /m...\n{api}")
    assert late != OLD
    assert seconds(late) == seconds(OLD)


def test_graph_bar_is_no_progress_of_shards() -> None:
    assert loaded(starts_of(OLD)[0]) != (26, 51)


@pytest.mark.parametrize("log", ["", "\n\r\n", "no stamp\nLoading safetensors checkpoint shards: 1/2\n"])
def test_log_without_a_stamp_tells_of_no_start(log: str) -> None:
    assert starts_of(log) == ()


@pytest.mark.parametrize("stamp", ["13-40 25:61:61", "02-30 10:00:00"])
def test_impossible_stamp_is_passed_over(stamp: str) -> None:
    assert starts_of(OLD.replace("\n", f"\nINFO {stamp} x\n")) == starts_of(OLD)


def test_engine_that_begins_again_under_its_server_is_a_start_of_its_own() -> None:
    engine = OLD[OLD.index("(EngineCore_DP0") : OLD.index("(APIServer pid=7) INFO 03-02 10:10:59")]
    again = engine.replace("EngineCore_DP0 pid=8", "EngineCore_DP0 pid=88")
    first, second = starts_of(OLD + again)
    assert first == starts_of(OLD)[0]
    assert second.beginning is Beginning.ENGINE
    assert second.phases[0].name is PhaseName.ENGINE
    assert second.total_s is None


def test_engines_of_a_data_parallel_server_are_one_start() -> None:
    line = next(line for line in OLD.splitlines() if "Initializing a V1" in line)
    both = OLD.replace(line, f"{line}\n{line.replace('DP0 pid=8', 'DP1 pid=18')}")
    assert starts_of(both) == starts_of(OLD)


def test_log_read_from_its_middle_knows_that_it_did_not_see_the_beginning() -> None:
    (start,) = starts_of(OLD[OLD.index("Loading safetensors") :])
    assert start.beginning is Beginning.MIDDLE
    assert start.phases[0].name is PhaseName.MODEL
    assert start.total_s is None


def test_log_of_a_server_at_work_tells_of_no_start() -> None:
    at_work = "".join(line + "\n" for line in RAY_CPU.splitlines() if "Avg prompt throughput" in line)
    assert len(at_work.splitlines()) > 3
    assert starts_of(at_work * 100) == ()


def test_moments_that_are_given_time_the_phases() -> None:
    reader = PhaseReader()
    told = [reader.feed(line, 1_000_000.0 + 2 * place) for place, line in enumerate(lines_of(OLD))]
    (start,) = reader.starts
    assert told[:2] == [True, False]  # both lines say that the process is there
    assert start.began_at == 1_000_000.0
    assert start.total_s == 2.0 * (len(told) - 1)
    assert start.first_stamp == "03-02 10:00:00"


def test_bar_that_moves_begins_its_phase_while_other_lines_are_kept_back() -> None:
    reader = PhaseReader()
    bars = [line for line in SLOW.splitlines() if "Completed" in line][:3]
    reader.feed("(EngineCore pid=8) INFO 03-02 10:00:20 [core.py:1] Initializing a V1 LLM engine (v0.33.0) with", 50.0)
    for at, bar in zip((70.0, 70.0, 72.0), bars, strict=True):
        assert reader.start is not None
        assert reader.start.phase(PhaseName.WEIGHTS) is None
        assert reader.feed(bar, at)
    weights = reader.start.phase(PhaseName.WEIGHTS) if reader.start else None
    assert weights is not None
    assert weights.started_s == 22.0


LINES = st.sampled_from(OLD.splitlines() + RAY_CPU.splitlines())
NOISE = st.text(max_size=40) | LINES | st.sampled_from(["\x1b[", "9/9999999", "INFO 99-99 99:99:99", "shards: 3/2"])


@given(st.lists(NOISE, max_size=40))
def test_no_text_makes_it_raise(lines: list[str]) -> None:
    for start in starts_of("\n".join(lines)):
        orders = [phase.name.order for phase in start.phases]
        assert orders == sorted(set(orders))
        assert all(phase.took_s is None or phase.took_s >= 0 for phase in start.phases)


@given(st.sampled_from([OLD, RAY_CPU, OLD + NEW_EAGER]), st.data())
def test_more_log_only_adds(log: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(log)), min_size=2, max_size=2)))
    shorter, longer = (starts_of("\n".join(log[:cut].splitlines()[:-1])) for cut in cuts)
    assert len(shorter) <= len(longer)
    for before, after in zip(shorter, longer, strict=False):
        assert [(p.name, p.started_s) for p in before.phases] == [
            (p.name, p.started_s) for p in after.phases[: len(before.phases)]
        ]
        assert loaded(before) <= loaded(after)
