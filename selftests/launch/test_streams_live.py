"""Two real nodes are followed through a start of Ray: everything is told, and nothing is changed by it."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterator

import pytest

from selftests.launch.following import Told
from selftests.nodes import traces
from selftests.nodes.confined import READING, Confined
from shakedown.embedded.deployment import EmbeddedDeployment
from shakedown.embedded.up import Options, start
from shakedown.inventory.load import load_deployment
from shakedown.launch import streams
from shakedown.launch.events import Contact, Counter, Event, Logged, Opened, Processes, Sampled, Stream
from shakedown.launch.places import Place, places
from shakedown.launch.streams import Streams
from shakedown.outcomes import Stage

pytestmark = pytest.mark.embedded

HEAD, WORKER = "node-a", "node-b"


@pytest.fixture(scope="module")
def running() -> Iterator[EmbeddedDeployment]:
    """Two nodes without anything on them."""
    with start(Options(owned=True)) as deployment:
        yield deployment


def test_following_leaves_nothing_behind(running: EmbeddedDeployment) -> None:
    before = [traces.of_node(node) for node in running.nodes]
    told = Told()
    with Streams(load_deployment(running.file), ["raylet"], told.queue):
        for name in (HEAD, WORKER):
            told.wait(Sampled, lambda event, name=name: event.node == name)  # type: ignore[misc]
    after = [traces.of_node(node) for node in running.nodes]
    for was, now in zip(before, after, strict=True):
        assert {kind: was[kind] ^ now[kind] for kind in was} == {kind: frozenset() for kind in was}


def test_a_node_on_which_nothing_can_be_written_is_followed(
    running: EmbeddedDeployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the capabilities that read, and on read-only file systems, the same is told."""

    def confined(deployment: object) -> Iterator[Place]:
        for place in places(load_deployment(running.file)):
            yield dataclasses.replace(place, transport=Confined(place.transport, READING, 0))

    monkeypatch.setattr(streams, "places", confined)
    told = Told()
    with Streams(load_deployment(running.file), [], told.queue):
        told.wait(Processes, lambda event: event.node == HEAD)
        values = told.wait(Sampled, lambda event: event.node == WORKER).values
        assert {Counter.AVAILABLE, Counter.CPU, Counter.READ, Counter.FABRIC} == set(values)
        assert told.wait(Opened, lambda event: event.stream is Stream.KERNEL).there
    assert all(event.reached for event in told.all(Contact))


def test_a_start_of_ray_is_told_as_it_happens(running: EmbeddedDeployment) -> None:
    """Logs appear, processes come, and every line has a moment of the start."""
    told = Told()
    began = time.time()

    def of(node: str, event: Event) -> bool:
        return getattr(event, "node", None) == node

    with Streams(load_deployment(running.file), [], told.queue):
        told.wait(Contact, lambda event: of(HEAD, event))
        told.wait(Contact, lambda event: of(WORKER, event))
        running.reach(Stage.RAY, lambda _: None)
        for node in (HEAD, WORKER):
            told.wait(Processes, lambda event, node=node: of(node, event) and "raylet" in event.alive)  # type: ignore[misc]
            told.wait(Logged, lambda event, node=node: event.line.node == node and "raylet" in event.line.stream)  # type: ignore[misc]
        told.wait(Processes, lambda event: of(HEAD, event) and "gcs" in event.alive)
        told.wait(Logged, lambda event: event.line.stream == Stream.GCS)
    lines = [event for event in told.all(Logged) if event.line.stream != Stream.KERNEL]
    assert not any(event.backlog for event in lines)
    assert all(began - 1 <= event.line.at <= time.time() for event in lines)
    assert not any(event.alive.get("gcs") for event in told.all(Processes) if event.node == WORKER)
