"""What a launch leaves behind: its time line, its metrics, its line of the record, and the page's chart of it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from selftests.launch.story import Line, Story, reading, shards, until_weights, whole
from selftests.report.samples import run
from selftests.report.test_html import Page
from shakedown.launch.history import kind_of
from shakedown.launch.timeline import launched, storage_of, timeline_of
from shakedown.report.html import page
from shakedown.report.terminal import summary
from shakedown.report.timeline import TimelineRecord, in_a_line, legend, rows

Counters = Callable[[str, float], dict[str, float]]
FITS = 58.5 * 2**30
"""Memory that each rank takes for the model in the story."""


def ready(shard_s: float = 18.0, counters: Counters | None = None, *, cached: bool = False, at: float = 0.0) -> Story:
    lines, end = whole([shard_s] * 39, cached=cached)
    story = Story(at=at)
    story.tell([line for line in lines if line[0] < at], backlog=True)
    story.both_live(at)
    story.play(lines, end, counters or reading(), start=at)
    story.answers(end + 1)
    story.status(end + 1)
    story.proves(end + 4)
    story.status(end + 4)
    return story


def line_of(story: Story) -> TimelineRecord:
    timeline = timeline_of(story.watch.known)
    assert timeline is not None
    return timeline


def test_every_phase_of_every_node_has_its_begin_and_its_end() -> None:
    timeline = line_of(ready())
    assert timeline.ready_s == pytest.approx(46 + 39 * 18 + 3 + 4 + 60 + 50)
    assert timeline.first_request_s == 2.5
    for node in timeline.nodes:
        phases = {phase.name: phase for phase in node.phases}
        assert phases["weights"].took_s == pytest.approx(39 * 18 + 1)
        assert phases["compilation"].took_s == pytest.approx(65, abs=3)
        assert all(phase.took_s >= 0 for phase in node.phases)
        assert node.phases[-1].ended_s == timeline.ready_s
    assert sum(phase.took_s for phase in timeline.nodes[0].phases) == pytest.approx(timeline.ready_s)


@pytest.mark.parametrize(
    ("read", "needed", "said"),
    [
        (8e9, 1e10, "cold"),
        (2e10, 1e10, "cold"),
        (7.9e9, 1e10, "mixed"),
        (1e9, 1e10, "warm"),
        (0.0, 1e10, "warm"),
        (None, 1e10, "unknown"),
        (1e9, None, "unknown"),
        (4e7, 4e7, "unknown"),
    ],
)
def test_cold_and_warm_are_shares_of_what_the_ranks_need(read: float | None, needed: float | None, said: str) -> None:
    assert storage_of(read, needed) == said


@pytest.mark.parametrize(("rate", "said"), [(FITS / 700, "cold"), (0.0, "warm"), (0.4 * FITS / 830, "mixed")])
def test_what_was_read_tells_where_the_weights_came_from(rate: float, said: str) -> None:
    timeline = line_of(ready(counters=reading(rate=rate)))
    assert [node.storage for node in timeline.nodes] == [said, said]
    assert timeline.nodes[0].needed_bytes == pytest.approx(FITS)


def test_a_watch_that_came_after_the_loading_had_begun_does_not_say() -> None:
    timeline = line_of(ready(at=300))
    assert [node.storage for node in timeline.nodes] == ["unknown", "unknown"]
    assert timeline.nodes[0].read_bytes is None
    assert timeline.ready_s == pytest.approx(46 + 39 * 18 + 3 + 4 + 60 + 50)


def test_the_compile_cache_is_told_by_the_log() -> None:
    assert line_of(ready()).compilation == "cold"
    assert line_of(ready(cached=True)).compilation == "warm"


def test_a_launch_that_is_not_ready_leaves_nothing() -> None:
    story = Story()
    story.play([*until_weights(), *shards(46, [18.0] * 39)], 300, reading())
    assert timeline_of(story.watch.known) is None
    assert launched(story.watch.known) is None


def test_a_launch_without_its_proof_is_not_recorded() -> None:
    lines: list[Line]
    lines, end = whole([1.0] * 10)
    story = Story()
    story.play(lines, end, reading())
    assert launched(story.watch.known) is None


def test_the_line_of_the_record_holds_every_phase() -> None:
    story = ready()
    record = launched(story.watch.known)
    assert record is not None
    assert record.kind == kind_of(story.deployment, "0.33.0")
    assert record.item_s == pytest.approx(18, rel=0.01)
    assert record.first_request_s == 2.5
    assert {"PROCESS", "WEIGHTS", "COMPILE", "KV_CACHE", "GRAPHS", "API"} <= set(record.phases_s)
    assert "READY" not in record.phases_s
    assert sum(record.phases_s.values()) == pytest.approx(record.total_s)


def test_the_chart_fills_its_width_and_draws_no_sliver() -> None:
    timeline = line_of(ready())
    for row in rows(timeline):
        assert row.pieces[-1].left + row.pieces[-1].width == pytest.approx(100, abs=0.5)
        assert all(piece.width >= 0.4 for piece in row.pieces)
        weights = next(piece for piece in row.pieces if piece.name == "weights")
        assert weights.width == pytest.approx(100 * 703 / 865, abs=0.5)
    drawn = dict(legend(timeline)).values()
    assert "weights" in drawn
    assert len(set(drawn)) == len(list(drawn))


def test_a_record_is_read_back_as_it_was_written() -> None:
    timeline = line_of(ready())
    assert TimelineRecord.model_validate_json(timeline.model_dump_json()) == timeline


def test_the_page_draws_it_and_loads_nothing() -> None:
    shown = Page(page(run(start=line_of(ready()))))
    assert not shown.open
    assert shown.elements.count("rect") > 10
    for part in ("The start, phase by phase", "14 min 25 s", "weights cold", "first request", "compilation: cold"):
        assert part in shown.text
    widths = [value for name, value in shown.attributes if name == "width" and value and value.endswith("%")]
    assert len(widths) > 8
    assert not {name for name, _ in shown.attributes} & {"href", "src", "xlink:href", "onload"}


def test_a_page_without_a_start_has_no_chart() -> None:
    assert "svg" not in Page(page(run())).elements


def test_a_start_is_one_line_at_the_end_of_a_run() -> None:
    timeline = line_of(ready())
    told = in_a_line(timeline)
    assert told == (
        "weights 703 s, compilation 65 s, graph capture 20 s, engine ready 24 s, ready after 865 s, "
        "first request 2.5 s; weights cold, compilation cold"
    )
    assert f"start  {told}" in [line.text for line in summary(run(start=timeline))]
    assert not [line for line in summary(run()) if line.text.startswith("start")]


def test_nodes_that_differ_are_told_apart_in_it() -> None:
    timeline = line_of(ready())
    warm = timeline.nodes[1].model_copy(update={"storage": "warm"})
    told = in_a_line(timeline.model_copy(update={"nodes": (timeline.nodes[0], warm)}))
    assert "weights cold on spark-a, warm on spark-b" in told
