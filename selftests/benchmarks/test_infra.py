"""The parts of the benchmark of tier 0 do what its figures say; how large the figures are is nobody's test."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.infra import cost, open_connections
from benchmarks.link import carried
from benchmarks.plain import plain_host
from benchmarks.rack import Rack, rack
from shakedown.inventory.load import load_deployment
from shakedown.nodes.answer import Command
from shakedown.nodes.evidence import Evidence
from shakedown.outcomes import Stage

NAME = Command("uname -n")
DELAY_S = 0.4


@pytest.fixture(scope="module")
def machines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rack]:
    """Two machines."""
    if os.geteuid() != 0:
        pytest.skip("machines are made by root only")
    with rack(tmp_path_factory.mktemp("rack"), 2) as made:
        yield made


def test_what_is_carried_is_held_back_and_whole() -> None:
    chunks, arrived = iter([b"one", b"two", b""]), list[tuple[bytes, float]]()
    began = time.monotonic()
    carried(lambda: next(chunks), lambda chunk: arrived.append((chunk, time.monotonic())), 0.1).join()
    assert [chunk for chunk, _ in arrived] == [b"one", b"two", b""]
    assert all(at - began >= 0.1 for _, at in arrived)


def test_every_machine_answers_for_itself(machines: Rack) -> None:
    deployment = load_deployment(machines.deployment(2))
    evidence = Evidence.of(deployment, Stage.HOSTS)
    evidence.fetch({node.name: [NAME] for node in deployment.node})
    assert [evidence.ask(node.name, NAME).text for node in deployment.node] == ["node-00\n", "node-01\n"]


def test_processor_time_is_counted_where_it_is_spent(machines: Rack) -> None:
    deployment = load_deployment(machines.deployment(2))
    busy = Command("timeout 1 sh -c 'while :; do :; done'; true")
    evidence = Evidence.of(deployment, Stage.HOSTS)
    first, second = machines.machines
    before = first.processor_s(), second.processor_s()
    took = cost(machines, lambda: evidence.ask(first.name, busy))
    assert first.processor_s() - before[0] > 10 * (second.processor_s() - before[1])
    assert took.nodes_s > took.own_s
    assert took.wall_s >= 1


@pytest.mark.parametrize("kept", [True, False])
def test_plain_testinfra_reaches_the_machines(machines: Rack, kept: bool, tmp_path: Path) -> None:
    deployment = load_deployment(machines.deployment(2))
    with open_connections(deployment, tmp_path) as control:
        host = plain_host(deployment.head, control if kept else None)
        assert host.run("uname -n; echo '%s' 100%%").stdout == "node-00\n%s 100%%\n"


def test_a_longer_way_takes_longer(machines: Rack) -> None:
    """Over a connection that is open, what is asked takes at least one round trip."""
    deployment = load_deployment(machines.deployment(2, DELAY_S))
    Evidence.of(deployment, Stage.HOSTS).ask(deployment.head.name, NAME)
    took = cost(machines, lambda: Evidence.of(deployment, Stage.HOSTS).ask(deployment.head.name, NAME))
    assert took.wall_s >= DELAY_S
