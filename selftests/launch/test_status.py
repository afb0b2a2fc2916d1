"""The status file for other tools: its form, and that no reader ever finds half of one."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import jsonschema
import pytest
from pydantic import ValidationError

from selftests.launch.story import GB, B, Story, reading, shards, until_weights
from shakedown.launch.events import Stream
from shakedown.launch.status import FORMAT, State, Status, as_json, from_json, schema, write

KILLED = "(raylet) ray.exceptions.OutOfMemoryError: Task was killed due to the node running low on memory."


@pytest.fixture(scope="module")
def loading() -> Status:
    story = Story()
    story.both_live(0)
    return story.play([*until_weights(), *shards(46, [18.0] * 39)], 200, reading())[-1]


@pytest.fixture
def failed() -> Status:
    story = Story()
    story.both_live(0)
    story.play(until_weights(), 100, reading())
    story.says(100, KILLED, B, Stream.RAYLET_OUT)
    return story.status(101)


def test_a_status_is_read_back_as_it_was_written(loading: Status, failed: Status, tmp_path: Path) -> None:
    for status in (loading, failed, Status("x", State.WAITING, 0.0)):
        write(status, tmp_path / "status.json")
        assert from_json((tmp_path / "status.json").read_text()) == status


def test_it_holds_what_a_tool_needs(loading: Status) -> None:
    told = json.loads(as_json(loading))
    assert told["format"] == FORMAT
    assert (told["state"], told["phase"]) == ("running", "weights")
    assert told["bar"] == {"done": 8, "total": 39, "unit": "shards"}
    assert told["updated_at"] - told["began"] == pytest.approx(200)
    assert told["phase_left_s"] == pytest.approx(46 + 39 * 18 - 200, abs=2)
    assert told["left_s"] is None
    head, worker = told["nodes"]
    assert (head["name"], head["role"], worker["role"]) == ("spark-a", "head", "worker")
    assert worker["phase"] == "weights"
    assert worker["activity"] == "reads 1.2 GB/s, 1.0 processors"
    assert worker["lowest_bytes"] == 110 * GB
    assert head["spans"][0]["ended"] > head["spans"][0]["began"]


def test_it_holds_the_diagnosis(failed: Status) -> None:
    told = json.loads(as_json(failed))["explanation"]
    assert (told["fault"], told["node"]) == ("MEM-01", "spark-b")
    assert all(told[part] for part in ("title", "line", "why", "remedy", "check", "stream"))


def test_the_schema_accepts_every_status_and_refuses_others(loading: Status, failed: Status) -> None:
    form = schema()
    jsonschema.Draft202012Validator.check_schema(form)
    for status in (loading, failed):
        jsonschema.validate(json.loads(as_json(status)), form)
    broken = {**json.loads(as_json(loading)), "state": "perhaps"}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(broken, form)
    with pytest.raises(ValidationError):
        from_json(json.dumps(broken))


def test_every_field_of_the_schema_is_there(loading: Status) -> None:
    form = schema()
    assert set(json.loads(as_json(loading))) == set(form["properties"])


def test_a_reader_never_finds_half_a_status(loading: Status, tmp_path: Path) -> None:
    file = tmp_path / "status.json"
    write(loading, file)
    ended = threading.Event()

    def rewrite() -> None:
        for _ in range(200):
            write(loading, file)
        ended.set()

    writer = threading.Thread(target=rewrite)
    writer.start()
    reads = 0
    while not ended.is_set():
        assert from_json(file.read_text()).phase == "weights"
        reads += 1
    writer.join()
    assert reads > 0
    assert [path.name for path in tmp_path.iterdir()] == ["status.json"]
