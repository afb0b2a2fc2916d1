"""Probes that act, on machines of a rack: both halves meet, a fault is told as what it is, and nothing stays behind."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from ipaddress import IPv4Network
from pathlib import Path

import pytest

from selftests.inventory.files import changed
from selftests.nodes.rack import Machine, rack
from shakedown.errors import EvidenceError
from shakedown.inventory.load import load_deployment
from shakedown.inventory.model import Deployment, Network
from shakedown.nodes.active import bandwidth, collective, ports, rails, ray_tasks
from shakedown.nodes.active.lanes import lanes
from shakedown.nodes.evidence import Evidence
from shakedown.nodes.views.node import NodeViews
from shakedown.outcomes import Stage

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="machines with networks of their own are made by root only")

Rack = tuple[Machine, Machine]

NARROW = (
    "add table ip narrow; add chain ip narrow path { type filter hook input priority 0; }; "
    "add rule ip narrow path iifname fab1 meta length > 1400 drop",
)


@pytest.fixture(scope="module")
def machines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rack]:
    """Two machines on one fabric."""
    with rack(tmp_path_factory.mktemp("rack")) as made:
        yield made


@pytest.fixture
def deployment(machines: Rack, tmp_path: Path) -> Deployment:
    """Both, entered directly; their Python is this one, which has no engine and no torch."""
    ways = [
        f"namespace = {{ pid = {one.target.pid}, started = {one.target.started} }}\npython = '{sys.executable}'"
        for one in machines
    ]
    file = tmp_path / "deployment.toml"
    file.write_text(changed(('ssh = "op@10.1.230.180"', ways[0]), ('ssh = "op@10.1.230.181"', ways[1])))
    return load_deployment(file)


@pytest.fixture
def evidence(deployment: Deployment) -> Evidence:
    """Nothing asked yet."""
    return Evidence.of(deployment, Stage.HOSTS)


def inside(machine: Machine, *command: str) -> str:
    """What a command says in a machine's network and among its processes."""
    enter = ["nsenter", "-t", str(machine.target.pid), "--net", "--pid", "--mount", "--"]
    return subprocess.run([*enter, *command], check=True, capture_output=True, text=True).stdout


@pytest.fixture
def guarded(machines: Rack) -> Iterator[None]:
    """The second machine drops what comes to any port but Ray's."""
    second = machines[1]
    for rule in (
        "add table ip guard",
        "add chain ip guard fabric { type filter hook input priority 0; }",
        "add rule ip guard fabric iifname fab0 tcp dport != 6379 ct state new drop",
    ):
        inside(second, "nft", rule)
    yield
    inside(second, "nft", "delete table ip guard")


def test_ports_are_tried_both_ways(deployment: Deployment, evidence: Evidence) -> None:
    tried = ports.ways(deployment, evidence)
    assert [(way.source, way.target) for way in tried] == [("spark-a", "spark-b"), ("spark-b", "spark-a")]
    assert all(len(way.reached) == ports.COUNT and not way.problems for way in tried)


@pytest.mark.usefixtures("guarded")
def test_a_firewall_is_told_with_its_direction(deployment: Deployment, evidence: Evidence) -> None:
    guarded, open_way = ports.ways(deployment, evidence)
    assert not guarded.reached
    assert "timed out" in str(guarded)
    assert not open_way.problems


@pytest.fixture
def second_rail(machines: Rack) -> Iterator[None]:
    """One more cable between the two, in a subnet of its own."""
    ends = (f"name fab1 netns {machine.target.pid}" for machine in machines)
    subprocess.run(["ip", *f"link add {' type veth peer '.join(ends)}".split()], check=True)
    for machine, address in zip(machines, ("192.168.201.12/24", "192.168.201.13/24"), strict=True):
        inside(machine, "ip", "addr", "add", address, "dev", "fab1")
        inside(machine, "ip", "link", "set", "fab1", "up")
    yield
    inside(machines[0], "ip", "link", "del", "fab1")


@pytest.mark.usefixtures("second_rail")
def test_full_packets_are_tried_on_every_rail(machines: Rack, deployment: Deployment) -> None:
    """The path of the second cable is then made too narrow for them."""
    subnets = (*deployment.fabric.subnets, IPv4Network("192.168.201.0/24"))
    twins = deployment.model_copy(update={"fabric": Network(subnets=subnets)})

    def received() -> list[tuple[str, bool]]:
        evidence = Evidence.of(twins, Stage.HOSTS)
        views = {node.name: NodeViews(twins, node, evidence) for node in twins.node}
        return [(rail.nic, echo.received) for rail, echo in rails.echoes(views, evidence)]

    assert received() == [("fab1", True), ("fab1", True)]
    inside(machines[1], "nft", *NARROW)
    try:
        assert received() == [("fab1", False), ("fab1", False)]
    finally:
        inside(machines[1], "nft", "delete table ip narrow")


def test_a_probe_is_not_repeated_and_can_be_replayed(
    deployment: Deployment, evidence: Evidence, tmp_path: Path
) -> None:
    tried = ports.ways(deployment, evidence)
    assert ports.ways(deployment, evidence) == tried
    evidence.save(tmp_path / "kept.json.gz")
    assert ports.ways(deployment, Evidence.load(tmp_path / "kept.json.gz")) == tried


def test_a_bundle_without_the_probe_says_so(deployment: Deployment, evidence: Evidence, tmp_path: Path) -> None:
    evidence.save(tmp_path / "kept.json.gz")
    with pytest.raises(EvidenceError, match="holds no answer of spark-a"):
        ports.ways(deployment, Evidence.load(tmp_path / "kept.json.gz"))


def test_nothing_of_a_probe_is_left(machines: Rack, deployment: Deployment, evidence: Evidence) -> None:
    ports.ways(deployment, evidence)
    for machine in machines:
        assert "try_ports" not in inside(machine, "ps", "-eo", "args")
        listening = inside(machine, "ss", "-Hltn").splitlines()
        assert all(":2222" in line for line in listening), listening


def test_a_rank_that_cannot_start_is_told_in_its_own_words(deployment: Deployment, evidence: Evidence) -> None:
    """This Python has no torch."""
    first, second = collective.ranks(deployment, evidence, "gloo", {})
    assert (first.node, second.node) == ("spark-a", "spark-b")
    assert not first.has_group
    assert not first.has_sum
    assert "No module named 'torch'" in str(first)


def test_a_rank_that_hangs_is_ended(
    machines: Rack, deployment: Deployment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A torch that never comes back from its import: the limit ends it, and the process it stands in."""
    (tmp_path / "torch.py").write_text("import time\ntime.sleep(600)\n")
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nexport PYTHONPATH={tmp_path}\nexec {sys.executable} "$@"\n')
    python.chmod(0o755)
    monkeypatch.setattr(collective, "LIMIT_S", 3)
    nodes = tuple(node.model_copy(update={"python": str(python)}) for node in deployment.node)
    hanging = deployment.model_copy(update={"node": nodes})
    with pytest.raises(EvidenceError, match="did not end within 3 s"):
        collective.ranks(hanging, Evidence.of(hanging, Stage.HOSTS), "gloo", {})
    for machine in machines:
        assert "meet at the declared address" not in inside(machine, "ps", "-eo", "args")


def test_tasks_without_ray_are_no_answer(deployment: Deployment, evidence: Evidence) -> None:
    with pytest.raises(EvidenceError, match="no raylet runs here"):
        ray_tasks.tasks(deployment, evidence)


def test_bandwidth_is_measured_both_ways(
    machines: Rack, deployment: Deployment, evidence: Evidence, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A cable throttled to 100 Mb/s at one end carries about that in one direction, and more in the other."""
    monkeypatch.setattr(bandwidth, "SECONDS", 2)
    throttle = ("dev", "fab0", "root", "tbf", "rate", "100mbit", "burst", "64kb", "latency", "50ms")
    inside(machines[0], "tc", "qdisc", "add", *throttle)
    try:
        views = {node.name: NodeViews(deployment, node, evidence) for node in deployment.node}
        throttled, other = bandwidth.flows(lanes(views, deployment), deployment, evidence)
    finally:
        inside(machines[0], "tc", "qdisc", "del", "dev", "fab0", "root")
    assert 50 < throttled.mbps < 110
    assert other.mbps > throttled.mbps
    assert throttled.sent_again is not None
    assert other.sent_again is not None
    assert other.sent_again < throttled.sent_again  # what does not get through a throttle is dropped
