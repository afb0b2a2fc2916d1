"""Containers of a real Docker Engine on two machines: both places are asked, and a container that is down is told."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import pytest

from selftests.inventory.files import changed
from selftests.nodes.engines_in_docker import CONTAINER, daemon, docker, rack_with_docker
from selftests.nodes.rack import FABRIC, TRUSTED, Machine
from shakedown.errors import ContainerDownError, EvidenceError
from shakedown.inventory.load import load_deployment
from shakedown.inventory.model import Deployment
from shakedown.launch.stage import find_stage
from shakedown.nodes.active import ports
from shakedown.nodes.answer import TIMED_OUT, Command, Place
from shakedown.nodes.evidence import Evidence
from shakedown.nodes.fetch import Reach
from shakedown.nodes.transport import DockerExec, Local
from shakedown.nodes.views.node import NodeViews
from shakedown.outcomes import Stage

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="Docker Engine is started by root only")

Rack = tuple[Machine, Machine]

HERE = Command("echo here", Place.ENGINE)
SLEEP = Command("sleep 30", Place.ENGINE, limit_s=40)
AFTER = Command("echo after", Place.ENGINE)
OUTSIDE = Command("uname -n", Place.MACHINE)


@pytest.fixture(scope="module")
def machines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rack]:
    """Two machines with a container each."""
    with rack_with_docker(tmp_path_factory.mktemp("docker")) as made:
        yield made


def deployment_of(machines: Rack, folder: Path, *, user: str = "root", more: str = "") -> Deployment:
    """The two machines and their containers as a deployment file has them, reached over ssh."""
    ways = [f'ssh = "{user}@{one.name}"\nssh_config = "{one.config}"\n{more}' for one in machines]
    text = changed(
        ("http://10.1.230.180:30000", "http://127.0.0.1:1"),
        ('name = "spark-a"', 'name = "node-a"'),
        ('name = "spark-b"', 'name = "node-b"'),
        ('ssh = "op@10.1.230.180"', ways[0]),
        ('ssh = "op@10.1.230.181"', ways[1]),
    )
    file = folder / "deployment.toml"
    file.write_text(text + f'[container]\nname = "{CONTAINER}"\n')
    return load_deployment(file)


@pytest.fixture
def deployment(machines: Rack, tmp_path: Path) -> Deployment:
    """Reached as root."""
    return deployment_of(machines, tmp_path)


def views_of(deployment: Deployment, node: str) -> NodeViews:
    """What one node says now."""
    return NodeViews(deployment, deployment.named(node), Evidence.of(deployment, Stage.RAY))


@contextlib.contextmanager
def after(machine: Machine, command: str, undo: str) -> Iterator[None]:
    """The container as it is after a command of the client, and set right again."""
    docker(machine, command, *(["--time=0"] if command == "stop" else []), CONTAINER)
    try:
        yield
    finally:
        docker(machine, undo, CONTAINER)


def test_nics_are_the_machines_and_rays_environment_the_containers(deployment: Deployment) -> None:
    assert find_stage(deployment) is Stage.RAY
    for name, address in FABRIC.items():
        views = views_of(deployment, name)
        assert [str(own) for own in views.network.interface("fab0").addresses] == [f"{address}/24"]
        environment = views.ray.raylet.environment
        assert environment is not None
        assert environment["VLLM_HOST_IP"] == address
        assert views.environment.login["VLLM_HOST_IP"] == address


def test_how_a_container_was_made_is_read(machines: Rack, deployment: Deployment) -> None:
    for name in FABRIC:
        container = views_of(deployment, name).container
        assert container.trouble is None
        made = container.made
        assert (made.state, made.network, made.attached, made.compose) == ("running", "host", False, "")
        assert made.is_of(f"docker.io/library/{CONTAINER}:latest")
        assert made.keeps(PurePosixPath("/usr/share/serve.log"))
        assert not made.keeps(PurePosixPath("/var/log/serve.log"))
        assert "images and logs of docker" in {one.what for one in views_of(deployment, name).disks.written}


def test_docker_gives_a_process_its_capabilities(machines: Rack, deployment: Deployment) -> None:
    """By itself none that lifts the limit of locked memory; then the limit counts."""
    said = docker(machines[0], "exec", CONTAINER, "sh", "-c", "ulimit -l").strip()
    limit = None if said == "unlimited" else int(said) * 1024
    assert views_of(deployment, "node-a").limits.locked.new == limit


def test_both_places_of_both_nodes_take_one_round_trip(deployment: Deployment) -> None:
    evidence = Evidence.of(deployment, Stage.RAY)
    inside = Command("test -e /raylet && echo inside", Place.ENGINE)
    evidence.fetch({name: [inside, OUTSIDE] for name in FABRIC})
    for name in FABRIC:
        assert evidence.ask(name, inside).text == "inside\n"
        assert evidence.ask(name, OUTSIDE).text == f"{name}\n"
        assert len({answer.asked for answer in evidence.answers(name)}) == 1


def test_a_container_of_this_machine_is_reached_without_ssh(machines: Rack, monkeypatch: pytest.MonkeyPatch) -> None:
    first, _ = machines
    monkeypatch.setenv("DOCKER_HOST", daemon(first))
    evidence = Evidence("here", Stage.RAY, {"a": Reach("a", Local(), DockerExec(Local(), CONTAINER))})
    assert evidence.ask("a", Command("echo $VLLM_HOST_IP", Place.ENGINE)).text == f"{FABRIC[first.name]}\n"
    assert evidence.ask("a", Command("echo ${VLLM_HOST_IP-none}")).text == "none\n"


def test_probes_act_in_the_containers(deployment: Deployment) -> None:
    """Both halves meet over the fabric, though one is started behind a jump host."""
    tried = ports.ways(deployment, Evidence.of(deployment, Stage.RAY))
    assert [(way.source, way.target) for way in tried] == [("node-a", "node-b"), ("node-b", "node-a")]
    assert all(len(way.reached) == ports.COUNT for way in tried), tried


def test_any_bytes_come_out_of_a_container(deployment: Deployment) -> None:
    huge = Command(r"head -c 12000000 /dev/zero; printf '\377'; printf '$(id)' >&2; exit 3", Place.ENGINE, limit_s=30)
    answer = Evidence.of(deployment, Stage.RAY).ask("node-b", huge)
    assert answer.stdout == bytes(12_000_000) + b"\xff"
    assert (answer.stderr, answer.exit_code) == (b"$(id)", 3)


def test_what_ran_too_long_has_ended_in_the_container(machines: Rack, deployment: Deployment) -> None:
    slow = Command("exec sleep 1234", Place.ENGINE, limit_s=1)
    assert Evidence.of(deployment, Stage.RAY).ask("node-a", slow).exit_code == TIMED_OUT
    assert "sleep 1234" not in docker(machines[0], "top", CONTAINER)


@pytest.mark.parametrize(
    ("command", "undo", "remedy"),
    [("stop", "start", "`docker start engine`"), ("pause", "unpause", "`docker unpause engine`")],
)
def test_a_container_that_is_down_is_told_with_its_remedy(
    machines: Rack, deployment: Deployment, command: str, undo: str, remedy: str
) -> None:
    with after(machines[0], command, undo):
        assert find_stage(deployment) is Stage.HOSTS
        with pytest.raises(EvidenceError, match=f"container engine does not run on node-a .*{remedy}"):
            _ = views_of(deployment, "node-a").ray.raylets
        assert views_of(deployment, "node-a").network.interface("fab0").is_up, "the machine still answers"


def test_a_container_of_another_name_is_told(machines: Rack, deployment: Deployment) -> None:
    with after(machines[0], "stop", "start"):
        docker(machines[0], "rename", CONTAINER, "other")
        try:
            views = views_of(deployment, "node-a")
            with pytest.raises(ContainerDownError, match=r"No such container.*`docker ps -a` there"):
                _ = views.ray.raylets
            with pytest.raises(ContainerDownError, match=r"(?i)No such container.*`docker ps -a` there"):
                _ = views.container.made
            assert views.container.trouble is not None
        finally:
            docker(machines[0], "rename", "other", CONTAINER)


def test_a_container_that_stops_half_way_leaves_what_it_said(machines: Rack, deployment: Deployment) -> None:
    evidence = Evidence.of(deployment, Stage.RAY)
    threading.Timer(3, docker, (machines[0], "kill", CONTAINER)).start()
    try:
        evidence.fetch({"node-a": [HERE, SLEEP, AFTER, OUTSIDE], "node-b": [HERE]})
    finally:
        docker(machines[0], "start", CONTAINER)
    assert [evidence.ask(name, HERE).text for name in FABRIC] == ["here\n", "here\n"]
    assert evidence.ask("node-a", SLEEP).exit_code == 128 + 9
    assert "is not running" in evidence.ask("node-a", AFTER).complaint
    assert evidence.ask("node-a", OUTSIDE).text == "node-a\n"


def test_a_user_who_may_not_ask_docker_is_told(machines: Rack, tmp_path: Path) -> None:
    """The raylet is seen from the machine, and what is in the container is out of reach."""
    deployment = deployment_of(machines, tmp_path, user=TRUSTED)
    assert find_stage(deployment) is Stage.RAY
    trouble = views_of(deployment, "node-a").container.trouble
    assert trouble
    assert "permission denied" in trouble.why
    assert "set `sudo = true` for the node" in trouble.remedy


def test_sudo_may_ask_docker(machines: Rack, tmp_path: Path) -> None:
    assert find_stage(deployment_of(machines, tmp_path, user=TRUSTED, more="sudo = true")) is Stage.RAY
