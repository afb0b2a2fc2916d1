"""`up`, `down` and `status` as they are typed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from typer import rich_utils
from typer.testing import CliRunner

from shakedown.cli import app
from shakedown.embedded.faults import FAULTS, shape_of
from shakedown.embedded.processes import myself
from shakedown.embedded.shape import HEALTHY
from shakedown.embedded.state import Record, StateFolder
from shakedown.errors import LaunchError
from shakedown.outcomes import Stage


@pytest.fixture(autouse=True)
def standing(runtime: Path) -> Iterator[None]:
    """A record of a deployment `one` whose hub is this very process."""
    StateFolder("one").create(Record(starter=myself(), hub=myself(), stage=Stage.RAY, fault="mtu-mismatch"))
    yield
    StateFolder("one").write(Record(starter=myself()))


def test_help_lists_every_fault_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rich_utils, "MAX_WIDTH", 400)
    text = CliRunner().invoke(app, ["up", "--help"]).output
    for fault in FAULTS:
        assert f"{fault.name}: {fault.text}" in text


FELT_TOGETHER = (["host_ip_on", "management_isolated"], ["gloo_nic_on", "names_on_loopback"])


def test_every_fault_changes_one_thing_or_what_makes_it_felt() -> None:
    shapes = [shape_of(fault.name) for fault in FAULTS]
    for shape in shapes:
        changed = [name for name in HEALTHY.__slots__ if getattr(shape, name) != getattr(HEALTHY, name)]
        assert len(changed) == 1 or changed in FELT_TOGETHER
    assert shape_of(None) == HEALTHY


def test_an_unknown_fault_is_refused_with_the_known_ones() -> None:
    with pytest.raises(LaunchError, match="no fault 'fire'; known: ray-on-management, "):
        shape_of("fire")
    result = CliRunner().invoke(app, ["up", "--fault", "fire"])
    assert result.exit_code == 2
    assert "no fault 'fire'" in result.output


def test_a_deployment_with_another_fault_is_not_continued() -> None:
    result = CliRunner().invoke(app, ["up", "--name", "one", "--fault", "worker-not-joined"])
    assert isinstance(result.exception, LaunchError)
    assert "made with fault mtu-mismatch" in str(result.exception)
    assert "down one" in str(result.exception)


def test_down_of_something_that_is_not_there_is_no_error() -> None:
    result = CliRunner().invoke(app, ["down", "other"])
    assert (result.exit_code, result.output) == (0, "other: was not there\n")
