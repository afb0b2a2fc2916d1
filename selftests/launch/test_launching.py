"""The way through the stages: what is checked and started in which order, and what is left alone."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from selftests.launch.machines import calls, local_pair
from shakedown.errors import LaunchError
from shakedown.inventory.model import Deployment
from shakedown.launch import launching
from shakedown.launch.attend import FailedLaunchError, Options
from shakedown.launch.gate import GateError
from shakedown.launch.launching import Declared, Launchable, Progress, launch
from shakedown.launch.live import Display, Show
from shakedown.launch.status import State, Status
from shakedown.launch.suites import SuiteRun
from shakedown.outcomes import Stage

HOSTS, RAY, SERVING = Stage.HOSTS, Stage.RAY, Stage.SERVING


@contextmanager
def unseen() -> Iterator[Show]:
    """A display that shows nothing."""
    yield lambda _status: None


class Written(Launchable):
    """Writes down what it is asked for."""

    def __init__(self, stage: Stage, story: list[str]) -> None:
        self.file, self.stage, self._story = Path("pair.toml"), stage, story

    def form_cluster(self, progress: Progress) -> None:
        self._story.append("Ray")
        self.stage = RAY

    def serve(self, progress: Progress, display: Display, options: Options) -> None:
        self._story.append("model")
        self.stage = SERVING


@pytest.fixture
def story(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What happened, in order; checks find nothing, and no server runs."""
    told: list[str] = []
    monkeypatch.setattr(launching, "load_deployment", lambda file: file)
    monkeypatch.setattr(launching, "require_no_server", lambda _: told.append("no server?"))
    monkeypatch.setattr(launching, "require_sound", lambda _file, stage: told.append(f"infra at {stage}"))
    return told


def taken(story: list[str], stage: Stage, until: Stage, *, gate: bool = True) -> list[str]:
    launch(Written(stage, story), until, lambda _line: None, unseen, Options(), gate=gate)
    return story


def test_every_stage_has_its_checks_before_it(story: list[str]) -> None:
    assert taken(story, HOSTS, SERVING) == ["infra at hosts", "Ray", "no server?", "infra at ray", "model"]


def test_a_launch_goes_on_from_where_it_is(story: list[str]) -> None:
    assert taken(story, RAY, SERVING) == ["no server?", "infra at ray", "model"]


def test_it_goes_as_far_as_asked(story: list[str]) -> None:
    assert taken(story, HOSTS, RAY) == ["infra at hosts", "Ray"]


@pytest.mark.parametrize(("stage", "until"), [(SERVING, SERVING), (RAY, RAY), (SERVING, RAY), (HOSTS, HOSTS)])
def test_nothing_is_done_where_it_is_there_already(story: list[str], stage: Stage, until: Stage) -> None:
    assert taken(story, stage, until) == []


def test_without_the_gate_only_a_second_server_is_ruled_out(story: list[str]) -> None:
    assert taken(story, HOSTS, SERVING, gate=False) == ["Ray", "no server?", "model"]


def test_a_blocker_stops_it_before_anything_is_started(story: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def blocked(_file: Path, stage: Stage) -> None:
        raise GateError(stage, SuiteRun(1, None))

    monkeypatch.setattr(launching, "require_sound", blocked)
    with pytest.raises(GateError, match="stopped at stage hosts"):
        taken(story, HOSTS, SERVING)
    assert story == []


def test_a_server_that_runs_stops_it_before_the_checks(story: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def runs(_deployment: object) -> None:
        raise LaunchError("an API server runs")

    monkeypatch.setattr(launching, "require_no_server", runs)
    with pytest.raises(LaunchError, match="an API server runs"):
        taken(story, RAY, SERVING)
    assert story == []


def declared(folder: Path, monkeypatch: pytest.MonkeyPatch, state: State = State.READY) -> Declared:
    """Two nodes that are this machine, on which nothing runs; whoever follows the model's start is told its end."""
    log = folder / "serve.log"
    deployment = local_pair(folder, more=f'log = "{log}"\n')

    def attend(of: Deployment, show: Show, options: Options, since: float) -> Status:
        return Status(of.name, state, since + 60, began=since)

    monkeypatch.setattr(launching, "find_stage", lambda _: HOSTS)
    monkeypatch.setattr(launching, "attend", attend)
    return Declared(folder / "deployment.toml", deployment)


def test_a_declared_deployment_is_started_by_its_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target, told = declared(tmp_path, monkeypatch), list[str]()
    target.form_cluster(told.append)
    assert target.stage is RAY
    target.serve(told.append, unseen, Options())
    assert target.stage is SERVING
    assert told == ["Ray starts on the head", "Ray starts on spark-b", "the API server starts on the head"]
    assert ["--head" in words for words in calls(tmp_path)[:2]] == [True, False]


def test_who_interrupts_is_told_that_the_server_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> Status:
        raise KeyboardInterrupt

    target, told = declared(tmp_path, monkeypatch), list[str]()
    monkeypatch.setattr(launching, "attend", interrupted)
    with pytest.raises(KeyboardInterrupt):
        target.serve(told.append, unseen, Options())
    assert told[-1].startswith("no longer followed; the server goes on")


@pytest.mark.parametrize("state", [State.FAILED, State.STALLED, State.ENDED, State.RUNNING])
def test_one_that_does_not_get_ready_stays_at_ray_and_says_what_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, state: State
) -> None:
    target = declared(tmp_path, monkeypatch, state)
    with pytest.raises(FailedLaunchError) as failed:
        target.serve(lambda _line: None, unseen, Options())
    assert target.stage is HOSTS
    assert str(failed.value).startswith(f"pair: {state} (1:00 since it began)")
    assert "left as it is: Ray on spark-a, spark-b, and the server on spark-a" in str(failed.value)
