"""A start as a measurement: by its time line where there is one, and cold and warm starts kept apart."""

from __future__ import annotations

from pathlib import Path

import pytest

from selftests.launch.story import GB, A, B, whole
from selftests.launch.test_timeline import line_of, ready
from shakedown.engines.vllm.phases import Start, starts_of
from shakedown.errors import DeploymentFileError
from shakedown.inventory.model import Slo
from shakedown.launch.events import Stream
from shakedown.launch.measured import is_of, measurement_of, metrics_of
from shakedown.report.timeline import NodeTimeline, Storage, TimelineRecord
from shakedown.verdict.gate import Verdict
from shakedown.verdict.judge import Judge, Measurement, Opinion

STAMP = "12-01 12:00:00"


def logged() -> Start:
    """The start of the story as the stamps of its log have it."""
    lines, _ = whole([18.0] * 39)
    log = [text.replace("12:00:00", stamp_of(at)) for at, _, stream, text in lines if stream == Stream.SERVE]
    return starts_of("\n".join(log))[-1]


def stamp_of(at: float) -> str:
    return f"12:{int(at) // 60:02}:{int(at) % 60:02}"


def followed(*storage: Storage, ready_s: float | None = None) -> TimelineRecord:
    timeline = line_of(ready()).model_copy(update={"stamp": STAMP})
    nodes = tuple(
        node.model_copy(update={"storage": kind}) for node, kind in zip(timeline.nodes, storage, strict=False)
    )
    changes = {"nodes": nodes or timeline.nodes, "ready_s": timeline.ready_s if ready_s is None else ready_s}
    return timeline.model_copy(update=changes)


def measured(timeline: TimelineRecord | None) -> Measurement:
    return measurement_of(logged(), timeline, (A, B), {"engine": "vllm 0.33.0"})


def opinion(folder: Path, measurement: Measurement, *slos: Slo, record: bool = False) -> Opinion:
    judge = Judge("pair", slos, folder, record=record)
    return judge.opinion(measurement, gated=("total_s",), families=tuple(measurement.metrics))


def test_a_time_line_is_known_as_that_of_its_start_and_of_no_other() -> None:
    timeline = followed()
    assert is_of(timeline, logged())
    assert not is_of(timeline.model_copy(update={"stamp": "12-01 12:00:01"}), logged())
    assert not is_of(timeline.model_copy(update={"ready_s": 700.0}), logged())


def test_a_time_line_tells_fractions_of_a_second_and_what_no_log_tells() -> None:
    metrics = metrics_of(logged(), followed(ready_s=865.25), (A, B))
    assert metrics["total_s"].value == 865.25
    assert metrics["phase_weights_s"].value == pytest.approx(39 * 18 + 1)
    assert metrics["phase_graphs_s"].value is not None
    assert (metrics["first_request_s"].value, metrics["first_request_s"].better) == (2.5, "lower")
    assert metrics[f"read_bytes.{B}"].value == pytest.approx(1.2 * GB * 865, rel=0.02)
    assert metrics[f"read_bytes.{B}"].note == "weights cold"


def test_without_one_the_log_is_believed_and_the_rest_is_said_to_be_unknown() -> None:
    metrics = metrics_of(logged(), None, (A, B))
    assert metrics["total_s"].value == 864
    assert metrics["first_request_s"].value is None
    assert metrics[f"read_bytes.{A}"].note == "the start was not followed from here"


def test_both_tell_of_the_same_metrics_so_that_a_limit_is_refused_in_neither() -> None:
    assert set(metrics_of(logged(), None, (A, B))) == set(metrics_of(logged(), followed(), (A, B)))


def test_a_limit_on_what_was_not_followed_is_undecided(tmp_path: Path) -> None:
    slo = Slo(scenario="cold-start", metric="first_request_s", max=10)
    (judgement,) = opinion(tmp_path, measured(None), slo).judgements
    assert judgement.verdict is Verdict.INCONCLUSIVE
    assert "not followed" in judgement.found


def test_a_limit_holds_for_a_node_whatever_is_in_its_name(tmp_path: Path) -> None:
    slo = Slo(scenario="cold-start", metric=f"read_bytes.{B}", max=1)
    assert opinion(tmp_path, measured(followed()), slo).verdict is Verdict.FAIL
    with pytest.raises(DeploymentFileError, match=r"no limit can be set on 'read_bytes\.nobody'"):
        opinion(tmp_path, measured(None), Slo(scenario="cold-start", metric="read_bytes.nobody", max=1))


def test_a_cold_start_is_never_compared_with_warm_ones(tmp_path: Path) -> None:
    warm, cold = measured(followed("warm", "warm", ready_s=300.0)), measured(followed("cold", "cold"))
    opinion(tmp_path, warm, record=True)
    assert (tmp_path / "cold-start-weights-warm-compile-cold.json").is_file()
    said = opinion(tmp_path, cold)
    assert said.verdict is None
    assert said.unrecorded.startswith("no baseline for cold-start-weights-cold-compile-cold")
    assert "recorded (1 run)" in opinion(tmp_path, cold, record=True).unrecorded
    assert opinion(tmp_path, cold).verdict is Verdict.PASS


def test_a_start_that_is_neither_is_compared_with_none_and_keeps_its_limits(tmp_path: Path) -> None:
    slo = Slo(scenario="cold-start", metric="total_s", max=10)
    said = opinion(tmp_path, measured(followed("cold", "warm")), slo, record=True)
    assert "weights cold on spark-a, warm on spark-b" in said.unrecorded
    assert said.verdict is Verdict.FAIL
    assert not list(tmp_path.iterdir())


def test_a_record_that_tells_no_kinds_apart_is_left_alone_and_told(tmp_path: Path) -> None:
    old = tmp_path / "cold-start.json"
    old.write_text("anything")
    said = opinion(tmp_path, measured(None))
    assert said.unrecorded.startswith("no baseline for cold-start-weights-unknown-compile-cold")
    assert f"{old} does not tell such starts from others" in said.unrecorded
    assert old.read_text() == "anything"


@pytest.mark.parametrize(
    ("storage", "together"),
    [
        (("cold", "cold"), "cold"),
        (("warm", "warm"), "warm"),
        (("cold", "warm"), "mixed"),
        (("mixed", "mixed"), "mixed"),
        (("cold", "unknown"), "unknown"),
    ],
)
def test_all_nodes_decide_what_kind_of_start_it_was(storage: tuple[Storage, Storage], together: str) -> None:
    nodes = tuple(NodeTimeline(node=name, phases=(), storage=kind) for name, kind in zip((A, B), storage, strict=True))
    assert line_of(ready()).model_copy(update={"nodes": nodes}).storage == together
