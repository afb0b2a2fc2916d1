"""What following a launch leaves behind: a status file that lives, and records of what was seen whole only."""

from __future__ import annotations

import queue
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from selftests.launch.story import T0, Story, pair, reading, until_weights, whole
from shakedown.inventory.model import Deployment
from shakedown.launch import attend
from shakedown.launch.attend import LATEST, FailedLaunchError, Options, StatusFile, latest_timeline, require_ready
from shakedown.launch.history import FILE, History, kind_of
from shakedown.launch.status import Explanation, State, Status, from_json
from shakedown.launch.watch import Watch

Play = Callable[[Story], Status]


def kept_in(folder: Path) -> Deployment:
    """The pair, with its state in a folder."""
    plain = pair()
    return plain.model_copy(update={"deployment": plain.deployment.model_copy(update={"state": str(folder)})})


def becomes_ready(story: Story, at: float = 0.0) -> Status:
    """A launch from its first line, seen from a moment on."""
    lines, end = whole([1.0] * 39)
    story.tell([line for line in lines if line[0] < at], backlog=True)
    story.both_live(at)
    story.play(lines, end, reading(), start=at)
    story.answers(end + 1)
    story.status(end + 1)
    story.proves(end + 4)
    return story.status(end + 4)


def was_ready(story: Story) -> Status:
    """All of it had been written before anybody looked."""
    return becomes_ready(story, at=400)


def crashes(story: Story) -> Status:
    story.both_live(0)
    story.play(until_weights(), 60, reading())
    story.says(60, "(raylet) ray.exceptions.OutOfMemoryError: Task was killed due to the node running low on memory.")
    return story.status(70)


def attended(folder: Path, monkeypatch: pytest.MonkeyPatch, play: Play, file: Path | None = None) -> Status:
    """Attend a launch whose streams tell a story."""

    class Silent:
        def __init__(self, *_: object) -> None:
            self.events: queue.SimpleQueue[Any] = queue.SimpleQueue()

        def __enter__(self) -> Silent:
            return self

        def __exit__(self, *_: object) -> None:
            pass

    def follow(watch: Watch, _events: object, _asking: object, tell: Callable[[Status], None], **_: object) -> Status:
        story = Story(deployment=watch.known.deployment, reached=())
        story.watch = watch
        for node in watch.known.deployment.node:
            story.contact(400 if play is was_ready else 0, node.name)
        status = play(story)
        tell(status)
        return status

    monkeypatch.setattr(attend, "Streams", Silent)
    monkeypatch.setattr(attend, "follow", follow)
    shown: list[Status] = []
    status = attend.attend(kept_in(folder), shown.append, Options(json_status=file))
    assert shown == [status]
    return status


def test_a_launch_that_was_seen_whole_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    status = attended(tmp_path / "state", monkeypatch, becomes_ready)
    assert status.state is State.READY
    timeline = latest_timeline(tmp_path / "state")
    assert timeline is not None
    assert timeline.began.timestamp() == T0
    (launched,) = History(tmp_path / "state" / FILE).launches(kind_of(pair(), "0.33.0"))
    assert launched.total_s == pytest.approx(timeline.ready_s)


@pytest.mark.parametrize("play", [was_ready, crashes])
def test_what_was_over_before_or_failed_leaves_no_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, play: Play
) -> None:
    status = attended(tmp_path / "state", monkeypatch, play)
    assert status.state is (State.READY if play is was_ready else State.FAILED)
    assert not (tmp_path / "state").exists()


def test_a_later_launch_that_fails_leaves_the_time_line_of_the_one_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    attended(tmp_path / "state", monkeypatch, becomes_ready)
    before = latest_timeline(tmp_path / "state")
    attended(tmp_path / "state", monkeypatch, crashes)
    assert latest_timeline(tmp_path / "state") == before is not None


def test_the_status_file_holds_the_last_word(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    status = attended(tmp_path / "state", monkeypatch, crashes, tmp_path / "status.json")
    assert from_json((tmp_path / "status.json").read_text()) == status


def test_the_status_file_is_written_at_every_change_of_state_and_once_a_second(tmp_path: Path) -> None:
    file = tmp_path / "status.json"
    writer = StatusFile(file)

    def written(at: float, state: State = State.RUNNING) -> bool:
        file.unlink(missing_ok=True)
        writer.tell(Status("pair", state, at))
        return file.exists()

    assert [written(at) for at in (0.0, 0.5, 1.0, 1.9, 2.0)] == [True, False, True, False, True]
    assert written(2.1, State.READY)
    assert not written(2.2, State.READY)


def test_the_status_file_tells_that_a_failure_is_settled_however_soon(tmp_path: Path) -> None:
    file = tmp_path / "status.json"
    writer = StatusFile(file)
    explanation = Explanation("MOD-03", "the model is absent", "spark-b", 1.0)
    for status in (
        Status("pair", State.FAILED, 1.0),
        Status("pair", State.FAILED, 1.2, explanation=explanation),
        Status("pair", State.FAILED, 1.4, settled=True, explanation=explanation),
    ):
        writer.tell(status)
        assert from_json(file.read_text()) == status


def test_without_a_file_nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    StatusFile(None).tell(Status("pair", State.READY, 1.0))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("text", ["", "{", "[]", '{"began": "now"}'])
def test_a_time_line_that_cannot_be_read_is_none(tmp_path: Path, text: str) -> None:
    assert latest_timeline(tmp_path) is None
    (tmp_path / LATEST).write_text(text)
    assert latest_timeline(tmp_path) is None


def test_a_failed_launch_is_one_error_with_the_whole_explanation() -> None:
    explanation = Explanation(
        "NET-06", "no packet arrives", "spark-b", 31.0, "serve log", "timed out", "a firewall", "open it"
    )
    with pytest.raises(FailedLaunchError) as failed:
        require_ready(Status("pair", State.FAILED, 36.0, began=1.0, explanation=explanation), "nothing was ended")
    assert failed.value.exit_code == 12
    assert str(failed.value).splitlines() == [
        "pair: failed (0:30 since it began)",
        "NET-06  no packet arrives",
        "  node      spark-b",
        "  line      serve log: timed out",
        "  why       a firewall",
        "  remedy    open it",
        "nothing was ended",
    ]
