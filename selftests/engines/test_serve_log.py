"""The log is sifted where it lies, and tells the same as the whole."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from shakedown.engines.vllm.phases import starts_of
from shakedown.inventory.load import load_deployment
from shakedown.inventory.model import Deployment
from shakedown.nodes.answer import Place
from shakedown.nodes.views.serve_log import ServeLogView
from shakedown.simulator.deployment import FILE

LOGS = sorted((Path(__file__).parent / "logs").glob("*.txt"))


def with_log(log: Path, log_in: str = "host") -> Deployment:
    simulated = load_deployment(FILE)
    serve = simulated.serve.model_copy(update={"log": log, "log_in": log_in})
    return simulated.model_copy(update={"serve": serve})


def sifted(log: Path) -> subprocess.CompletedProcess[str]:
    deployment = with_log(log)
    (command,) = ServeLogView.commands(deployment, deployment.head)
    return subprocess.run(["sh", "-c", command.text], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("log", LOGS, ids=lambda log: log.stem)
def test_sifted_log_tells_the_same_starts(log: Path, tmp_path: Path) -> None:
    long = tmp_path / "a log's name with $(touch x) in it"
    noise = 'INFO: 10.0.0.1 - "POST /v1/chat/completions HTTP/1.1" 200 OK\n' * 2000
    long.write_text(log.read_text() + noise)
    done = sifted(long)
    assert done.returncode == 0
    assert len(done.stdout) <= len(log.read_text())
    whole, start = starts_of(log.read_text()), starts_of(done.stdout)
    assert [[phase.name for phase in one.phases] for one in start] == [[p.name for p in one.phases] for one in whole]
    assert [one.weights for one in start] == [one.weights for one in whole]
    assert not list(tmp_path.glob("x"))


def test_log_that_is_not_there_is_an_error_and_no_empty_log(tmp_path: Path) -> None:
    done = sifted(tmp_path / "none")
    assert done.returncode != 0
    assert "none" in done.stderr


def test_only_the_head_is_asked_and_only_where_a_log_is_declared(tmp_path: Path) -> None:
    deployment = with_log(tmp_path / "log", "container")
    (command,) = ServeLogView.commands(deployment, deployment.head)
    assert command.place is Place.ENGINE
    assert [ServeLogView.commands(deployment, node) for node in deployment.workers] == [()]
    simulated = load_deployment(FILE)
    if simulated.serve.log is None:
        assert ServeLogView.commands(simulated, simulated.head) == ()
