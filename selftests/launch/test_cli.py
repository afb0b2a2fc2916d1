"""`launch` and `watch` as they are typed: which deployment, what a dry run shows, what is refused, how they end."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from typer.testing import CliRunner

from selftests.inventory.files import GOOD
from shakedown import cli as command_line
from shakedown.cli import app
from shakedown.embedded.state import StateFolder
from shakedown.engines.vllm.phases import PhaseName
from shakedown.errors import LaunchError
from shakedown.inventory.model import Deployment
from shakedown.launch import cli
from shakedown.launch.attend import FailedLaunchError, Options
from shakedown.launch.gate import GateError
from shakedown.launch.launching import Launchable
from shakedown.launch.status import Explanation, State, Status, from_json
from shakedown.launch.suites import SuiteRun
from shakedown.outcomes import Stage

Typed = Callable[..., Any]

OWN = """
[launch]
ray_head = "systemctl start ray-head"
ray_worker = "systemctl start ray-worker"
serve = "docker exec -d vllm vllm serve /models/x --api-key sk-1234567890abcdef"
"""


@pytest.fixture
def typed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Typed:
    """Type a command where there is no deployment of any kind."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    monkeypatch.delenv(cli.VARIABLE, raising=False)
    return lambda *words: CliRunner().invoke(app, list(words))


def declared(file: Path, name: str = "pair", more: str = "") -> Path:
    file.write_text(GOOD.replace('name = "pair"', f'name = "{name}"') + f'log = "/var/log/{name}.log"\n{more}')
    return file


def test_option_comes_before_variable_and_variable_before_the_file_here(
    typed: Typed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    declared(tmp_path / "deployment.toml", "here")
    assert "/var/log/here.log" in typed("launch", "--dry-run").output
    monkeypatch.setenv(cli.VARIABLE, str(declared(tmp_path / "variable.toml", "variable")))
    assert "/var/log/variable.log" in typed("launch", "--dry-run").output
    option = declared(tmp_path / "option.toml", "option")
    assert "/var/log/option.log" in typed("launch", "--dry-run", "--deployment", str(option)).output


@pytest.mark.parametrize("words", [("watch",), ("launch", "--dry-run")])
def test_without_any_deployment_all_ways_to_name_one_are_told(typed: Typed, words: tuple[str, ...]) -> None:
    error = typed(*words).exception
    assert isinstance(error, LaunchError)
    for way in ("--deployment FILE", "$SHAKEDOWN_DEPLOYMENT", "./deployment.toml", "python -m shakedown up"):
        assert way in str(error)


def test_embedded_may_be_named_where_a_file_lies(typed: Typed, tmp_path: Path) -> None:
    declared(tmp_path / "deployment.toml")
    assert "no embedded deployment" in str(typed("watch", "--deployment", "embedded").exception)


def test_a_dry_run_shows_our_commands_in_order_and_hides_the_key(
    typed: Typed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("THE_KEY", "hunter2")
    file = declared(tmp_path / "deployment.toml", more='api_key_env = "THE_KEY"\n')
    result = typed("launch", "--dry-run", "--deployment", str(file))
    assert result.exit_code == 0
    titles = [line for line in result.output.splitlines() if line.startswith("# ")]
    assert [title.partition(" (")[0] for title in titles] == [
        "# Ray starts on the head",
        "# Ray starts on spark-b",
        "# the API server starts on the head",
    ]
    assert all("made from the deployment file" in title for title in titles)
    assert "export VLLM_API_KEY=" in result.output
    assert "hunter2" not in result.output


def test_a_dry_run_shows_the_operators_commands_and_hides_a_key_in_them(typed: Typed, tmp_path: Path) -> None:
    output = typed("launch", "--dry-run", "--deployment", str(declared(tmp_path / "own.toml", more=OWN))).output
    assert output.count("from [launch])") == 3
    assert "systemctl start ray-worker" in output
    assert "vllm serve /models/x" in output
    assert "sk-1234567890abcdef" not in output


def test_a_dry_run_goes_as_far_as_asked(typed: Typed, tmp_path: Path) -> None:
    declared(tmp_path / "deployment.toml")
    output = typed("launch", "--dry-run", "--until", "ray").output
    assert "Ray starts on spark-b" in output
    assert "API server" not in output
    assert typed("launch", "--dry-run", "--until", "hosts").output == ""


@pytest.mark.parametrize(
    "text", ["weights", "weights=", "weights=soon", "weights=0", "weights=-1", "weights=nan", "x=9"]
)
def test_a_quiet_limit_that_is_none_is_refused(typed: Typed, text: str) -> None:
    result = typed("watch", "--quiet-limit", text)
    assert result.exit_code == 2
    assert "--quiet-limit" in result.output
    assert "PHASE=SECONDS" in result.output


def test_options_reach_the_watch(typed: Typed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[Options] = []

    def attend(deployment: Deployment, show: object, options: Options) -> Status:
        given.append(options)
        return Status(deployment.name, State.READY, 1.0)

    monkeypatch.setattr(cli, "attend", attend)
    declared(tmp_path / "deployment.toml")
    words = (
        "--quiet-limit",
        "weights=300",
        "--quiet-limit",
        "COMPILE=9",
        "--deadline",
        "60",
        "--json-status",
        "s.json",
    )
    assert typed("watch", *words).exit_code == 0
    (options,) = given
    assert options.limits.of(PhaseName.WEIGHTS).quiet_s == 300
    assert options.limits.of(PhaseName.WEIGHTS).busy_s == 900
    assert options.limits.of(PhaseName.COMPILE).quiet_s == 9
    assert (options.deadline_s, options.json_status) == (60, Path("s.json"))


def told(state: State, fault: str | None = None) -> Status:
    explanation = Explanation(fault, "what is wrong", "spark-b", 61.0) if state is State.FAILED else None
    return Status("pair", state, 61.0, began=1.0, explanation=explanation, notes=("a note",))


CODES = [
    (told(State.READY), 0),
    (told(State.FAILED, "MEM-01"), 10),
    (told(State.FAILED, "RAY-03"), 11),
    (told(State.FAILED, "NET-06"), 12),
    (told(State.FAILED, "MOD-01"), 13),
    (told(State.FAILED, "ENV-01"), 14),
    (told(State.FAILED, "PLT-01"), 15),
    (told(State.FAILED, "SRV-01"), 16),
    (told(State.STALLED), 20),
    (told(State.FAILED), 21),
    (told(State.ENDED), 22),
    (told(State.RUNNING), 23),
    (told(State.WAITING), 23),
]


@pytest.mark.parametrize(("status", "code"), CODES, ids=[f"{status.state}-{code}" for status, code in CODES])
def test_each_end_of_a_launch_has_its_exit_code(
    typed: Typed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, status: Status, code: int
) -> None:
    monkeypatch.setattr(cli, "attend", lambda *_: status)
    declared(tmp_path / "deployment.toml")
    result = typed("watch")
    assert result.exit_code == code
    assert result.output.splitlines()[0] == f"pair: {status.state} (1:00 since it began)"
    assert ("what is wrong" if status.explanation else "a note") in result.output


class Refusing(Launchable):
    """A target whose model does not get ready."""

    def __init__(self, file: Path, status: Status) -> None:
        self.file, self.stage, self._status = file, Stage.RAY, status

    def form_cluster(self, progress: object) -> None:
        raise AssertionError("it stands")

    def serve(self, progress: object, display: object, options: object) -> None:
        raise FailedLaunchError(self._status, "nothing was ended")


def test_a_launch_ends_with_the_code_of_its_fault_and_the_whole_explanation(
    typed: Typed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = declared(tmp_path / "deployment.toml")
    monkeypatch.setattr(cli, "Declared", lambda *_: Refusing(file, told(State.FAILED, "NET-06")))
    monkeypatch.setattr("shakedown.launch.launching.require_no_server", lambda _: None)
    monkeypatch.setattr("sys.argv", ["shakedown", "launch", "--no-gate"])
    with pytest.raises(SystemExit) as ended:
        command_line.main()
    assert ended.value.code == 12
    error = capsys.readouterr().err
    assert error.startswith("shakedown: pair: failed (1:00 since it began)\nNET-06  what is wrong\n")
    assert "nothing was ended" in error


def test_what_is_ready_already_is_told_and_nothing_is_done(
    typed: Typed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = declared(tmp_path / "deployment.toml")
    target = Refusing(file, told(State.FAILED))
    target.stage = Stage.SERVING
    monkeypatch.setattr(cli, "Declared", lambda *_: target)
    result = typed("launch")
    assert (result.exit_code, result.stdout) == (
        0,
        f"serving: {file.name}\n" if not file.is_absolute() else f"serving: {file}\n",
    )


class Standing:
    """An embedded deployment whose record says that it has only its hosts."""

    stage = Stage.HOSTS

    def __init__(self, file: Path) -> None:
        self.file = file

    def __enter__(self) -> Standing:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def reach(self, *_: object) -> None:
        raise AssertionError("a second Ray would be started, and what runs ended with it")


def test_an_embedded_deployment_that_was_launched_by_its_file_is_taken_as_it_is(
    typed: Typed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    standing = Standing(declared(tmp_path / "standing.toml"))
    record = SimpleNamespace(running=True, fault=None, slow_load_s=0.0)
    monkeypatch.setattr(StateFolder, "read", lambda _self: record)
    monkeypatch.setattr(cli, "attach", lambda *_: standing)
    monkeypatch.setattr("shakedown.launch.launching.find_stage", lambda _: Stage.SERVING)
    result = typed("launch")
    assert (result.exit_code, result.stdout) == (0, f"serving: {standing.file}\n")
    assert "was taken to stage serving by its file" in str(typed("up").exception)


def test_the_status_file_tells_no_earlier_launch(typed: Typed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that was stopped before its model was started, and one that is ready already, are told as well."""
    told_in = tmp_path / "status.json"
    target = Refusing(declared(tmp_path / "deployment.toml"), told(State.READY))
    monkeypatch.setattr(cli, "Declared", lambda *_: target)
    monkeypatch.setattr("shakedown.launch.launching.require_no_server", lambda _: None)
    seen: list[State] = []

    def blocked(_file: Path, stage: Stage) -> None:
        seen.append(from_json(told_in.read_text()).state)
        raise GateError(stage, SuiteRun(1, None))

    monkeypatch.setattr("shakedown.launch.launching.require_sound", blocked)
    assert isinstance(typed("launch", "--json-status", str(told_in)).exception, GateError)
    last = from_json(told_in.read_text())
    assert (seen, last.state, last.settled) == ([State.WAITING], State.FAILED, True)
    assert "stopped at stage ray" in last.notes[0]

    target.stage = Stage.SERVING
    assert typed("launch", "--json-status", str(told_in)).exit_code == 0
    assert from_json(told_in.read_text()).state is State.READY


def test_help_tells_every_exit_code(typed: Typed) -> None:
    text: Any = typed("launch", "--help").output
    for code in (*range(10, 17), *range(20, 25)):
        assert f"{code} " in text
