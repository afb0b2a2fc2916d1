"""Followers on real machines: over ssh with sudo, in containers of a real Docker Engine, and gone again."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from selftests.inventory.files import changed
from selftests.launch.following import Told
from selftests.nodes.engines_in_docker import CONTAINER, docker, rack_with_docker
from selftests.nodes.machines import eventually
from selftests.nodes.rack import TRUSTED, Machine
from shakedown.inventory.load import load_deployment
from shakedown.inventory.model import Deployment
from shakedown.launch.events import Answered, Contact, Counter, Logged, Opened, Processes, Sampled, Stream
from shakedown.launch.streams import Streams

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="Docker Engine is started by root only")

Rack = tuple[Machine, Machine]
SERVE_LOG = "/run/serve.log"


@pytest.fixture(scope="module")
def machines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rack]:
    """Two machines with a container each."""
    with rack_with_docker(tmp_path_factory.mktemp("docker")) as made:
        yield made


def deployment_of(machines: Rack, folder: Path, more: str = "", *, user: str = "root", serve: str = "") -> Deployment:
    """The two machines, the first reached as that user with sudo."""
    first, second = machines
    text = changed(
        ("http://10.1.230.180:30000", "http://127.0.0.1:1"),
        ('name = "spark-a"', 'name = "node-a"'),
        ('name = "spark-b"', 'name = "node-b"'),
        ('ssh = "op@10.1.230.180"', f'ssh = "{user}@{first.name}"\nssh_config = "{first.config}"\nsudo = true'),
        ('ssh = "op@10.1.230.181"', f'ssh = "{second.name}"\nssh_config = "{second.config}"'),
        ("tensor_parallel = 2\n", f"tensor_parallel = 2\n{serve}"),
    )
    file = folder / "deployment.toml"
    file.write_text(text + more)
    return load_deployment(file)


@contextlib.contextmanager
def followed(deployment: Deployment, *words: str) -> Iterator[Told]:
    told = Told()
    with Streams(deployment, words, told.queue):
        yield told


OURS = re.compile(r"module\.main\(\)|docker\0(?:events|logs|exec|inspect)\0")


def followers(machine: Machine) -> dict[int, str]:
    """Followers, and what they started, in the machine and in its container: command by process id."""
    found = {}
    for process in (machine.root / "proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            found[int(process.parent.name)] = process.read_text(errors="replace")
    return {pid: command for pid, command in found.items() if OURS.search(command)}


def test_both_machines_are_followed_over_ssh_and_left_as_they_were(machines: Rack, tmp_path: Path) -> None:
    """One of them as a user whom sudo asks for no password, the other behind a jump host."""
    deployment = deployment_of(machines, tmp_path, user=TRUSTED, serve=f'log = "{SERVE_LOG}"\n')
    first, second = machines
    (first.root / SERVE_LOG[1:]).write_text("INFO 12-01 12:00:00 [x.py:1] begun\n")
    with followed(deployment, "begun") as told:
        for machine in machines:
            reached = told.wait(Contact, lambda event, name=machine.name: event.node == name)  # type: ignore[misc]
            assert reached.reached, reached.why
            assert reached.clock_offset_s == pytest.approx(0, abs=0.05)
            counted = told.wait(Sampled, lambda event, name=machine.name: event.node == name)  # type: ignore[misc]
            assert {Counter.AVAILABLE, Counter.FABRIC} <= set(counted.values)
            assert len(followers(machine)) >= 1
        line = told.wait_line("begun")
        assert (line.line.node, line.line.stream, line.backlog) == (first.name, Stream.SERVE, True)
        assert told.wait(Processes, lambda event: event.node == first.name).port_owner == ""
        assert told.wait(Processes, lambda event: event.node == second.name).port_owner is None
        assert told.wait(Answered).why
    for machine in machines:
        eventually(lambda machine=machine: not followers(machine), "nothing is left there")  # type: ignore[misc]


def test_a_machine_that_goes_away_is_told_and_the_other_goes_on(machines: Rack, tmp_path: Path) -> None:
    first, second = machines
    log = first.root / SERVE_LOG[1:]
    log.write_text("")
    with followed(deployment_of(machines, tmp_path, serve=f'log = "{SERVE_LOG}"\n')) as told:
        told.wait(Contact, lambda event: event.node == second.name and event.reached)
        told.wait(Contact, lambda event: event.node == first.name and event.reached)
        with pulled(second):
            lost = told.wait(Contact, lambda event: not event.reached, 60)
            assert lost.node == second.name
            assert lost.why
            log.write_text("still here\n")
            assert told.wait_line("still here").line.node == first.name
        count = len(told.all(Contact))
        told.wait(Contact, lambda event: event in told.all(Contact)[count:] and event.reached, 60)


@contextlib.contextmanager
def pulled(machine: Machine) -> Iterator[None]:
    """Its management cable is out."""
    enter = ["nsenter", "-t", str(machine.target.pid), "--net", "ip", "link", "set", "mgt0"]
    subprocess.run([*enter, "down"], check=True)
    try:
        yield
    finally:
        subprocess.run([*enter, "up"], check=True)


def test_machine_and_container_are_both_followed(machines: Rack, tmp_path: Path) -> None:
    """The container's time zone is its own; what it counts and runs is told from inside, the rest from outside."""
    docker(machines[0], "exec", CONTAINER, "sh", "-c", "mkdir -p /logs; echo 'in the container' > /logs/raylet.out")
    more = f'[container]\nname = "{CONTAINER}"\n[ray]\nlogs = "/logs"\n'
    with followed(deployment_of(machines, tmp_path, more)) as told:
        assert told.wait_line("in the container").line.stream == Stream.RAYLET_OUT
        alive = told.wait(Processes, lambda event: event.node == "node-a").alive
        assert set(alive) == {"raylet"}
        counted = {counter for event in told.all(Sampled) for counter in event.values}
        told.wait(Sampled, lambda event: Counter.FABRIC in event.values)
        told.wait(Sampled, lambda event: Counter.CPU in event.values and Counter.FABRIC not in event.values)
        assert counted
        told.wait_line("container engine: status running")
    for machine in machines:
        eventually(lambda machine=machine: not followers(machine), "nothing is left there")  # type: ignore[misc]


def test_a_container_that_dies_and_comes_back_is_told(machines: Rack, tmp_path: Path) -> None:
    more = f'[container]\nname = "{CONTAINER}"\n[ray]\nlogs = "/logs"\n'
    first, _ = machines
    with followed(deployment_of(machines, tmp_path, more)) as told:

        def inside(event: Opened) -> bool:
            return event.node == first.name and event.source == f"docker exec {CONTAINER}"

        assert told.wait(Opened, inside).there
        told.wait(Logged, lambda event: event.line.node == first.name and "status running" in event.line.text)
        began = time.time()
        docker(first, "kill", CONTAINER)
        died = told.wait_line("container engine: die, exit code 137")
        assert not died.backlog
        assert died.line.stream == Stream.CONTAINER
        assert died.line.at == pytest.approx(began, abs=5)
        told.wait_line("container engine: status exited, exit code 137")
        told.wait(Opened, lambda event: inside(event) and "`docker start engine` there" in event.why)
        docker(first, "start", CONTAINER)
        told.wait_line("container engine: start")
        eventually(lambda: [event.there for event in told.all(Opened) if inside(event)][-1], "it is followed again")
        assert all(event.reached for event in told.all(Contact)), "the machine was there all the time"


def test_what_a_container_prints_is_the_serve_log_where_no_other_is(machines: Rack, tmp_path: Path) -> None:
    first, _ = machines
    name = "printing"
    image = ("--network=host", "--volume=/usr:/usr:ro", CONTAINER, "sh", "-c")
    count = "i=0; while :; do echo line $i; i=$((i+1)); sleep 0.05; done"
    docker(first, "run", "--detach", f"--name={name}", *image, f"yes noise | head -n 90000; echo found; {count}")
    deployment = deployment_of(machines, tmp_path, f'[container]\nname = "{name}"\n')
    try:
        with followed(deployment, "found") as told:
            told.wait_line("line 20")
            for pid in (pid for pid, command in followers(first).items() if command.startswith("python3\0")):
                subprocess.run(["nsenter", "-t", str(first.target.pid), "--pid", "--mount", "kill", "-9", str(pid)])
            told.wait_line("line 100")
            lines = [event for event in told.all(Logged) if event.line.source == f"docker logs {name}"]
            assert {event.line.stream for event in lines} == {Stream.SERVE}
            texts = [event.line.text for event in lines]
            numbers = [int(text.split()[1]) for text in texts if text.startswith("line ")]
            assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
            assert "found" in texts
            assert texts.count("noise") < 90_000 / 4
            assert [event.line.at for event in lines] == sorted(event.line.at for event in lines)
    finally:
        docker(first, "rm", "--force", name)
