"""How a record begins, grows and is compared with; what a file may hold."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from shakedown.errors import BaselineError, DeploymentFileError
from shakedown.inventory.model import Slo
from shakedown.outcomes import Metric
from shakedown.verdict.baseline import load_baseline
from shakedown.verdict.gate import Verdict
from shakedown.verdict.judge import Judge, Measurement, Opinion

CONDITIONS = {"concurrency": "1", "engine": "0.32.0"}


def measured(ttft: float, seed: int = 1) -> Measurement:
    metrics = (
        Metric("ttft_s.p50", ttft, "s", "lower", 30),
        Metric("ttft_s.p99", None, "s", "lower", 30, "refused: 30 samples, 299 needed"),
        Metric("output_tokens_per_s", 10 / ttft, "tokens/s", "higher", 30),
        Metric("client_cpu_s_per_request", 0.001, "s"),
    )
    return Measurement(
        scenario="chat-c1",
        metrics={metric.name: metric for metric in metrics},
        source=f"seed {seed}",
        conditions=CONDITIONS,
        invalid=(),
        gated=("ttft_s.p50", "output_tokens_per_s"),
    )


def judge(folder: Path, *, record: bool = False, slos: tuple[Slo, ...] = (), name: str = "pair") -> Judge:
    return Judge(name, slos, folder, record=record)


def opinion(of: Judge, measurement: Measurement) -> Opinion:
    return of.opinion(measurement, gated=("ttft_s.p50",), families=("ttft_s",))


def test_without_a_record_there_is_no_verdict_and_the_way_to_one_is_said(tmp_path: Path) -> None:
    said = opinion(judge(tmp_path), measured(1.0))
    assert said.verdict is None
    assert said.unrecorded == "no baseline for chat-c1: record one with --record-baseline"
    assert list(tmp_path.iterdir()) == []


def test_recording_writes_what_has_a_direction_and_a_value(tmp_path: Path) -> None:
    said = opinion(judge(tmp_path, record=True), measured(1.0))
    assert "recorded (1 run)" in said.unrecorded
    baseline = load_baseline(tmp_path / "chat-c1.json")
    assert baseline is not None
    (run,) = baseline.runs
    assert run.values == {"ttft_s.p50": 1.0, "output_tokens_per_s": 10.0}
    assert run.source == "seed 1"
    assert baseline.conditions == CONDITIONS


def test_recorded_run_is_compared_with(tmp_path: Path) -> None:
    opinion(judge(tmp_path, record=True), measured(1.0))
    assert opinion(judge(tmp_path), measured(1.1)).verdict is Verdict.PASS
    assert opinion(judge(tmp_path), measured(1.3)).verdict is Verdict.INCONCLUSIVE
    failed = opinion(judge(tmp_path), measured(2.0))
    assert failed.verdict is Verdict.FAIL
    assert [judgement.metric for judgement in failed.of(Verdict.FAIL)] == ["ttft_s.p50"]
    assert failed.unrecorded == ""


def test_run_counts_once_however_often_it_is_asked_about(tmp_path: Path) -> None:
    once = judge(tmp_path, record=True)
    opinion(once, measured(1.0))
    opinion(once, measured(1.0))
    opinion(judge(tmp_path, record=True), measured(1.0))
    opinion(judge(tmp_path, record=True), measured(1.05, seed=2))
    baseline = load_baseline(tmp_path / "chat-c1.json")
    assert baseline is not None
    assert baseline.history("ttft_s.p50") == [1.0, 1.05]


def test_run_is_compared_with_the_record_as_it_was_before_it(tmp_path: Path) -> None:
    opinion(judge(tmp_path, record=True), measured(1.0))
    (judgement,) = opinion(judge(tmp_path, record=True), measured(1.1, seed=2)).judgements
    assert "1 recorded run" in judgement.found


@pytest.mark.parametrize("worse", [measured(2.0, seed=2), replace(measured(1.0, seed=2), invalid=("busy",))])
def test_worse_or_invalid_run_never_becomes_part_of_the_record(tmp_path: Path, worse: Measurement) -> None:
    opinion(judge(tmp_path, record=True), measured(1.0))
    opinion(judge(tmp_path, record=True), worse)
    baseline = load_baseline(tmp_path / "chat-c1.json")
    assert baseline is not None
    assert len(baseline.runs) == 1


def test_invalid_run_is_judged_by_nothing(tmp_path: Path) -> None:
    slos = (Slo(scenario="chat-c1", metric="ttft_s.p50", max=0.1),)
    said = opinion(judge(tmp_path, slos=slos), replace(measured(1.0), invalid=("the client was busy",)))
    assert said.verdict is Verdict.INVALID
    assert said.judgements == ()


def test_limit_holds_without_a_record_and_beside_one(tmp_path: Path) -> None:
    slos = (Slo(scenario="chat-c1", metric="ttft_s.p50", max=0.5), Slo(scenario="chat-c4", metric="other", max=1))
    said = opinion(judge(tmp_path, slos=slos), measured(1.0))
    assert said.verdict is Verdict.FAIL
    assert said.judgements[0].expected == "at most 500 ms, by [[slo]] of the deployment file"


def test_limit_that_too_few_samples_cannot_decide_is_inconclusive(tmp_path: Path) -> None:
    slos = (Slo(scenario="chat-c1", metric="ttft_s.p99", max=0.5),)
    said = opinion(judge(tmp_path, slos=slos), measured(0.1))
    assert said.verdict is Verdict.INCONCLUSIVE
    assert "299 needed" in said.judgements[0].found


def test_limit_on_a_metric_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    slos = (Slo(scenario="chat-c1", metric="ttft.p50", max=0.5),)
    with pytest.raises(DeploymentFileError, match=r"no limit can be set on 'ttft.p50'; allowed: .*ttft_s.p50"):
        opinion(judge(tmp_path, slos=slos), measured(1.0))


@pytest.mark.parametrize("metric", ["requests_ok", "peak_output_tokens_per_s"])
def test_limit_that_no_check_would_hold_is_refused(tmp_path: Path, metric: str) -> None:
    unheld = Metric(metric, 1.0, "requests")
    measurement = replace(measured(1.0), metrics={**measured(1.0).metrics, metric: unheld})
    with pytest.raises(DeploymentFileError, match="no limit can be set"):
        opinion(judge(tmp_path, slos=(Slo(scenario="chat-c1", metric=metric, max=9),)), measurement)


def test_limit_on_a_scenario_that_is_never_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DeploymentFileError, match=r"no scenario 'chat-c2'; there are: chat-c1, chat-c4, cold-start"):
        judge(tmp_path, slos=(Slo(scenario="chat-c2", metric="ttft_s.p50", max=0.5),))


def test_other_software_is_no_comparison(tmp_path: Path) -> None:
    opinion(judge(tmp_path, record=True), measured(1.0))
    other = replace(measured(9.0, seed=2), conditions={**CONDITIONS, "engine": "0.33.0"})
    said = opinion(judge(tmp_path), other)
    assert said.verdict is Verdict.INVALID
    assert "engine was 0.32.0, is 0.33.0" in said.judgements[0].found
    with pytest.raises(BaselineError, match=r"Move it away"):
        opinion(judge(tmp_path, record=True), other)


def test_record_of_another_deployment_is_not_extended(tmp_path: Path) -> None:
    opinion(judge(tmp_path, record=True), measured(1.0))
    with pytest.raises(BaselineError, match=r"belongs to pair/chat-c1, not other/chat-c1"):
        opinion(judge(tmp_path, record=True, name="other"), measured(1.0, seed=2))


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"version": 2}, "version 2"),
        ({"runs": []}, "runs"),
        ({"more": 1}, "more"),
        ({"runs": [{"recorded": "2026-01-01T00:00:00Z", "source": "x", "values": {"a": "nan"}}]}, "values.a"),
    ],
)
def test_file_that_cannot_be_used_is_named_with_the_key(tmp_path: Path, change: dict[str, object], where: str) -> None:
    opinion(judge(tmp_path, record=True), measured(1.0))
    file = tmp_path / "chat-c1.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), **change}))
    with pytest.raises(BaselineError, match=rf"chat-c1\.json.*{where}"):
        opinion(judge(tmp_path), measured(1.0))


def test_file_that_is_no_json_is_refused(tmp_path: Path) -> None:
    (tmp_path / "chat-c1.json").write_bytes(b"\xff{")
    with pytest.raises(BaselineError, match="cannot be read"):
        opinion(judge(tmp_path), measured(1.0))
