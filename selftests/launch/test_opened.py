"""A declared deployment for a run of tests: followed, started where that was asked for, and only read else."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from selftests.launch.story import pair
from shakedown.errors import LaunchError
from shakedown.inventory.model import Deployment
from shakedown.launch import opened
from shakedown.launch.attend import FailedLaunchError, Options
from shakedown.launch.launching import Launchable
from shakedown.launch.live import Display, Show
from shakedown.launch.opened import Opened, open_attached, open_startable
from shakedown.launch.status import Explanation, State, Status
from shakedown.outcomes import Stage

FILE = Path("pair.toml")


class World:
    """What stands, what follows from watching it, and what was done.

    Attributes:
        stage: of the deployment.
        servers: that run on the head and do not answer yet.
        ends: what becomes of the start that is followed.
        done: in order.
    """

    def __init__(self) -> None:
        self.stage = Stage.RAY
        self.servers: tuple[int, ...] = ()
        self.ends = State.ENDED
        self.done: list[str] = []

    def attend(self, of: Deployment, show: Show) -> Status:
        self.done.append("followed")
        why = Explanation("MEM-01", "Ray killed the worker", "spark-b", 1.0)
        return Status(of.name, self.ends, 1.0, explanation=why if self.ends is State.FAILED else None)

    def launch(
        self,
        target: Launchable,
        until: Stage,
        progress: Callable[[str], None],
        display: Display,
        options: Options,
        *,
        gate: bool,
    ) -> None:
        if target.stage is not until:
            self.done.append(f"launched {target.file} from {target.stage}{' behind the gate' if gate else ''}")
            target.stage = until


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    it = World()

    class Declared:
        def __init__(self, file: Path, deployment: Deployment) -> None:
            ready = "followed" in it.done and it.ends is State.READY
            self.file, self.stage = file, Stage.SERVING if ready else it.stage

    monkeypatch.setattr(opened, "find_stage", lambda _: it.stage)
    monkeypatch.setattr(opened, "servers_of", lambda _: it.servers)
    monkeypatch.setattr(opened, "attend", it.attend)
    monkeypatch.setattr(opened, "launch", it.launch)
    monkeypatch.setattr(opened, "Declared", Declared)
    return it


def attached() -> Opened:
    return open_attached(pair(), lambda _line: None)


def startable() -> Opened:
    return open_startable(FILE, pair(), lambda _line: None)


def test_a_start_of_somebody_else_is_followed_to_its_end(world: World) -> None:
    world.ends = State.READY
    deployment = attached()
    deployment.reach(Stage.SERVING)
    assert (deployment.stage, world.done) == (Stage.SERVING, ["followed"])


def test_one_that_fails_is_told_with_its_explanation(world: World) -> None:
    world.ends = State.FAILED
    with pytest.raises(FailedLaunchError, match="MEM-01  Ray killed the worker"):
        attached().reach(Stage.SERVING)


def test_nothing_is_started_unless_it_is_asked_for(world: World) -> None:
    deployment = attached()
    assert not deployment.can_reach(Stage.SERVING)
    with pytest.raises(LaunchError, match=r"It is only attached to.*python -m shakedown launch.*--launch"):
        deployment.reach(Stage.SERVING)
    assert world.done == ["followed"]


@pytest.mark.parametrize("stage", [Stage.HOSTS, Stage.RAY])
def test_what_is_missing_is_started_without_a_gate(world: World, stage: Stage) -> None:
    world.stage = stage
    deployment = startable()
    assert deployment.can_reach(Stage.SERVING)
    deployment.reach(Stage.SERVING)
    assert (deployment.stage, world.done) == (Stage.SERVING, [f"launched {FILE} from {stage}"])


def test_no_second_server_is_put_beside_one_that_starts(world: World) -> None:
    world.servers, world.ends = (812,), State.READY
    deployment = startable()
    deployment.reach(Stage.SERVING)
    assert (deployment.stage, world.done) == (Stage.SERVING, ["followed"])


def test_where_the_one_that_starts_fails_no_other_is_tried(world: World) -> None:
    world.servers, world.ends = (812,), State.FAILED
    with pytest.raises(FailedLaunchError, match="MEM-01"):
        startable().reach(Stage.SERVING)
    assert world.done == ["followed"]


def test_a_server_that_was_stopped_meanwhile_is_started_anew(world: World) -> None:
    world.servers = (812,)
    deployment = startable()
    deployment.reach(Stage.SERVING)
    assert world.done == ["followed", f"launched {FILE} from ray"]


def test_nothing_is_done_where_it_serves(world: World) -> None:
    world.stage = Stage.SERVING
    deployment = startable()
    deployment.reach(Stage.SERVING)
    deployment.reach(Stage.RAY)
    assert (deployment.stage, world.done) == (Stage.SERVING, [])
