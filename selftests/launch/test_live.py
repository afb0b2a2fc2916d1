"""What people see of a launch: live at a terminal, one line an event elsewhere."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence

import pytest
from rich.console import Console

from selftests.launch.story import A, B, Story, reading, shards, until_weights, whole
from shakedown.launch.events import Stream
from shakedown.launch.live import Lines, duration, explained, picture, shown
from shakedown.launch.status import Status

KILLED = "(raylet) ray.exceptions.OutOfMemoryError: Task was killed due to the node running low on memory."


def lines_of(statuses: Sequence[Status]) -> list[str]:
    lines = Lines()
    return [line for status in statuses for line in lines.of(status)]


def healthy() -> list[Status]:
    lines, end = whole([18.0] * 39)
    story = Story()
    story.both_live(0)
    statuses = story.play(lines, end, reading())
    story.answers(end + 1)
    statuses.append(story.status(end + 1))
    story.proves(end + 4)
    return [*statuses, story.status(end + 4)]


def test_a_launch_without_a_terminal_is_some_dozens_of_plain_lines() -> None:
    text = lines_of(healthy())
    assert len(text) < 80
    assert all(line.isprintable() and re.match(r"\d\d:\d\d:\d\dZ  ", line) for line in text)
    told = "\n".join(text)
    assert "spark-a: API process" in told
    assert "spark-b: weights" in told
    assert "spark-a: weights, 39 of 39 shards" in told
    assert "ready, first request 2.5 s" in text[-1]


def test_no_phase_of_a_node_is_told_twice() -> None:
    phases = [line[11:] for line in lines_of(healthy()) if re.search(r"spark-[ab]: [^,]+$", line)]
    assert len(phases) == len(set(phases)) > 20


def test_progress_is_told_every_tenth_or_half_minute_and_no_more_often() -> None:
    told = [line for line in lines_of(healthy()) if " of 39 shards" in line]
    assert [re.search(r"(\d+) of", line)[1] for line in told[:3]] == ["0", "1", "3"]  # type: ignore[index]
    fast = Story()
    statuses = fast.play([*until_weights(), *shards(46, [0.2] * 39)], 60, reading())
    assert len([line for line in lines_of(statuses) if " of 39 shards" in line]) <= 11


def test_time_left_is_told_as_far_as_it_is_known() -> None:
    told = [line for line in lines_of(healthy()) if " of 39 shards" in line]
    assert "time left unknown" not in told[0]
    assert re.search(r"about 10:\d\d left of this phase, the rest unknown", "\n".join(told))


def test_contact_lost_and_back_and_missing_logs_are_told_once() -> None:
    story = Story()
    statuses = [story.status(0)]
    story.contact(10, B, reached=False, why="ssh: No route to host")
    statuses += [story.status(at) for at in (10, 11, 12)]
    story.contact(20, B)
    statuses += [story.status(at) for at in (20, 21)]
    told = lines_of(statuses)
    assert [line[11:] for line in told if "contact" in line] == [
        "spark-b: contact lost: ssh: No route to host",
        "spark-b: contact is back",
    ]


def test_a_failure_is_told_with_its_parts() -> None:
    story = Story()
    story.both_live(0)
    statuses = story.play(until_weights(), 100, reading())
    story.says(100, KILLED, B, Stream.RAYLET_OUT)
    statuses += [story.status(101), story.status(101.2)]
    told = "\n".join(lines_of(statuses))
    assert told.count("MEM-01 on spark-b: ") == 1
    explanation = statuses[-1].explanation
    assert explanation is not None
    whole = "\n".join(explained(explanation))
    for part in ("node      spark-b", "running low on memory", "remedy", "tests_infra/"):
        assert part in whole


def test_what_a_node_says_moves_no_terminal() -> None:
    story = Story()
    story.contact(10, B, reached=False, why="\x1b[2J\x07gone\r\nsecond line")
    told = lines_of([story.status(10)])
    assert all(line.isprintable() for line in told)
    assert any("gone" in line for line in told)


def test_no_terminal_means_no_escape_sequence_and_no_wrapping() -> None:
    out = io.StringIO()
    with shown(Console(file=out, force_terminal=False, width=40)) as show:
        for status in healthy():
            show(status)
    assert "\x1b" not in out.getvalue()
    assert "weights, 39 of 39 shards" in out.getvalue()


def test_a_terminal_shows_both_nodes() -> None:
    out = io.StringIO()
    console = Console(file=out, width=140)
    console.print(picture(healthy()[300]))
    text = out.getvalue()
    assert "spark-pair: running  5:00 since it began, about" in text
    for part in (A, B, "weights", "14 of 39 shards", "102.4 GiB"):
        assert part in text


def test_a_terminal_of_80_columns_shows_every_node_its_phase_and_its_memory() -> None:
    out = io.StringIO()
    Console(file=out, width=80).print(picture(healthy()[300]))
    shown_a = next(line for line in out.getvalue().splitlines() if line.startswith(A))
    for part in (f"{A}  weights  ", "14 of 39 shards  ", "102.4 GiB  102.4 GiB"):
        assert part in shown_a


@pytest.mark.parametrize("environment", [{"FORCE_COLOR": "1"}, {"TTY_COMPATIBLE": "1"}])
def test_a_log_is_no_terminal_whatever_ci_says_of_colours(environment: dict[str, str]) -> None:
    out = io.StringIO()
    with shown(Console(file=out, _environ=environment)) as show:
        for status in healthy():
            show(status)
    assert "\x1b" not in out.getvalue()
    assert len(out.getvalue().splitlines()) < 80


def test_a_terminal_is_redrawn_in_place() -> None:
    out = io.StringIO()
    with shown(Console(file=out, force_terminal=True, width=140), redrawn=True) as show:
        for status in healthy()[100:104]:
            show(status)
    assert "\x1b[2K" in out.getvalue()


def test_durations_read_as_a_clock() -> None:
    assert [duration(seconds) for seconds in (-3, 7, 725, 3723)] == ["0:00", "0:07", "12:05", "1:02:03"]


def test_an_explanation_has_only_the_parts_that_are_known() -> None:
    story = Story()
    story.both_live(0)
    story.play(until_weights(), 60, reading())
    story.lives(60, B, worker=400, raylet=60, stopped=(400,))
    explanation = story.status(62).explanation
    assert explanation is not None
    told = explained(explanation)
    assert told[0].startswith("unknown fault  a process is stopped")
    assert not any(line.strip().startswith("why") for line in told)
    assert any("kill -CONT 400" in line for line in told)


def test_a_launch_of_ours_counts_from_its_command() -> None:
    story = Story(since=-30.0)
    assert story.status(0).elapsed_s == pytest.approx(30)
    story.both_live(0)
    story.play(until_weights(), 50, reading())
    assert story.status(50).elapsed_s == pytest.approx(80)


def test_a_bar_stands_beside_its_own_phase_only() -> None:
    story = Story()
    story.both_live(0)
    statuses = story.play([*until_weights(), *shards(46, [1.0] * 39)], 100, reading())
    bars = [(node.phase, node.bar) for status in statuses for node in status.nodes if node.bar]
    assert bars
    assert {phase for phase, _ in bars} == {"weights"}
