"""A remedy names what the deployment file knows, in a form that can be copied into a shell whatever it holds."""

from __future__ import annotations

import re
import shlex
from pathlib import PurePosixPath
from typing import Any

import pytest

from shakedown.faults.catalogue import catalogue, lookup
from shakedown.faults.placeholders import LEFT, OF_DEPLOYMENT, OF_NODE, filled
from shakedown.inventory.load import load_deployment
from shakedown.inventory.model import Container, Deployment
from shakedown.simulator.deployment import FILE

ANY_PLACEHOLDER = re.compile(r"<[^<>\s][^<>]*>")


@pytest.fixture
def pair() -> Deployment:
    return load_deployment(FILE)


def with_path(pair: Deployment, path: str) -> Deployment:
    return pair.model_copy(update={"model": pair.model.model_copy(update={"path": PurePosixPath(path)})})


def test_every_placeholder_is_known_or_left_to_the_operator_and_none_is_kept_for_nothing() -> None:
    used = {name for entry in catalogue().values() for name in ANY_PLACEHOLDER.findall(entry.remedy)}
    assert used == set(OF_NODE) | set(OF_DEPLOYMENT) | LEFT


def test_what_is_left_to_the_operator_is_known_to_no_file() -> None:
    assert not LEFT & (set(OF_NODE) | set(OF_DEPLOYMENT))


def test_a_finding_names_what_its_own_node_has(pair: Deployment) -> None:
    for node in pair.node:
        told = lookup("NET-01").finding(found="", expected="", deployment=pair, node=node.name).remedy
        assert f"ip link set dev {node.interface} up" in told


def test_what_is_said_beforehand_keeps_the_placeholders() -> None:
    assert "ip link set dev <interface> up" in lookup("NET-01").remedy


def test_a_finding_about_the_whole_deployment_names_what_all_nodes_share(pair: Deployment) -> None:
    interfaces = {node.interface for node in pair.node}
    told = filled("<interface> <fabric address>", pair, None)
    assert told == f"{interfaces.pop() if len(interfaces) == 1 else '<interface>'} <fabric address>"


def test_head_and_workers_are_told_apart(pair: Deployment) -> None:
    """Both stand in one remedy: no worker's address may come into the command for the head."""
    head, worker = pair.head.fabric_address, pair.workers[0].fabric_address
    for node in pair.node:
        told = lookup("RAY-01").finding(found="", expected="", deployment=pair, node=node.name).remedy
        assert f"VLLM_HOST_IP={head} ray start --head --port={pair.ray.port} --node-ip-address={head}" in told
        assert f"VLLM_HOST_IP={worker} ray start --address={head}:{pair.ray.port} --node-ip-address={worker}" in told


@pytest.mark.parametrize("placeholder", ["<fabric address of the peer>", "<worker fabric address>"])
def test_of_several_peers_none_is_meant(pair: Deployment, placeholder: str) -> None:
    third = pair.workers[0].model_copy(update={"name": "node-c"})
    rack = pair.model_copy(update={"node": (*pair.node, third)})
    assert filled(placeholder, rack, pair.head.name) == placeholder


@pytest.mark.parametrize("placeholder", ["<container>", "<image>", "<ssh destination>", "<kernel>", "<nobody knows>"])
def test_what_is_not_declared_stays(pair: Deployment, placeholder: str) -> None:
    assert filled(f"see {placeholder}", pair, pair.head.name) == f"see {placeholder}"


def test_a_container_is_named(pair: Deployment) -> None:
    contained = pair.model_copy(update={"container": Container(name="vllm")})
    assert filled("docker exec <container> ls; docker pull <image>", contained, None) == (
        "docker exec vllm ls; docker pull <image>"
    )


HOSTILE: Any = [
    "/models/my model",
    "/models/$(reboot)",
    "/models/`reboot`",
    "/models/it's",
    "/models/a;reboot",
    "/m/-r",
]


@pytest.mark.parametrize("path", HOSTILE)
def test_a_value_is_one_word_of_the_shell(pair: Deployment, path: str) -> None:
    told = filled("ls -lnL <model path>; id", with_path(pair, path), None)
    assert shlex.split(told.removesuffix("; id")) == ["ls", "-lnL", path]


@pytest.mark.parametrize("path", HOSTILE[:-1])
@pytest.mark.parametrize("line", ["python3 -c 'open(\"<model path>/config.json\")'", 'echo "<model path>"'])
def test_between_quotes_only_a_plain_value_is_put(pair: Deployment, path: str, line: str) -> None:
    assert filled(line, with_path(pair, path), None) == line
    assert filled(line, with_path(pair, "/models/plain"), None) == line.replace("<model path>", "/models/plain")
