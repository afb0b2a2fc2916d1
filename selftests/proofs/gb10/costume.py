"""Dresses the two nodes of an embedded deployment as GB10 machines.

The suite's own commands, run for real, then answer as they would on such a pair: same names of NICs and HCAs, same
sysfs, same tools. Ray, sockets, addresses, routes and pings are real throughout. Root is needed, as for overlays.
"""

from __future__ import annotations

import os
import subprocess
from dataclasses import replace
from pathlib import Path

from selftests.proofs.gb10 import captures
from shakedown.embedded.deployment import EmbeddedDeployment
from shakedown.embedded.network import FABRIC_NIC, HUB, MANAGEMENT_NIC
from shakedown.embedded.node import RunningNode, base_environment
from shakedown.embedded.waiting import wait_until
from shakedown.inventory.load import load_deployment
from shakedown.inventory.model import Deployment, NamespaceTarget, Node
from shakedown.outcomes import Stage

HERE = Path(__file__).parent
FILE = HERE / "deployment.toml"
TREE = Path("/run/gb10")
TOOLS = Path("/usr/local/sbin")

FIRST, TWIN = "enp1s0f1np1", "enP2p1s0f1np1"
"""The two NICs that one port of the card is, https://github.com/eugr/spark-vllm-docker/blob/main/docs/NETWORKING.md."""

EMPTY_PORT = ("enp1s0f0np0", "enP2p1s0f0np0")
"""The NICs of the port without a cable."""

MANAGEMENT = "enP7s7"
MTU = 9000

VARIABLES = {
    "GLOO_SOCKET_IFNAME": FIRST,
    "NCCL_SOCKET_IFNAME": FIRST,
    "NCCL_IB_HCA": "rocep1s0f1,roceP2p1s0f1",
}
"""What ``ray start`` is given on such a pair beyond an embedded one."""


def bundle_of(stage: Stage) -> Path:
    """The recorded bundle of both dressed nodes, healthy, at that stage."""
    return HERE / f"gb10-{stage}.json.gz"


def dress(deployment: EmbeddedDeployment) -> None:
    """Put the costume on both nodes of a deployment that is at the stage hosts."""
    _cable(deployment.nodes)
    for node in deployment.nodes:
        _wear(node)
    deployment.nodes = tuple(
        replace(node, plan=replace(node.plan, variables=node.plan.variables | VARIABLES)) for node in deployment.nodes
    )


def described(deployment: EmbeddedDeployment) -> Deployment:
    """What the dressed nodes are meant to be, reached through their namespaces."""
    planned = load_deployment(FILE)
    processes = {node.name: node.process for node in deployment.nodes}

    def reached(node: Node) -> Node:
        process = processes[node.name]
        target = NamespaceTarget(pid=process.pid, started=process.started)
        return node.model_copy(update={"ssh": None, "namespace": target})

    return planned.model_copy(update={"node": tuple(reached(node) for node in planned.node)})


def _cable(nodes: tuple[RunningNode, ...]) -> None:
    """Rename the NICs and add the others that the machine has."""
    first, second = nodes
    _ip(first, f"link add {TWIN} type veth peer name {TWIN} netns {second.process.pid}", inside=False)
    for number, node in enumerate(nodes):
        _ip(node, _links(node, number))
    # The kernel tells of a cable up to a second after it is plugged in.
    wait_until(lambda: all(_is_up(node, nic) for node in nodes for nic in (FIRST, TWIN)), 5, "the fabric NICs come up")


def _is_up(node: RunningNode, nic: str) -> bool:
    return node.file(Path("/sys/class/net", nic, "operstate")).read_text().strip() == "up"


def _links(node: RunningNode, number: int) -> str:
    """Commands for ``ip -batch``; known hardware addresses, of RFC 7042's range for documentation, give known GIDs."""
    host = node.plan.fabric.rpartition(".")[2]
    nics = ((FABRIC_NIC, FIRST, "a", None), (TWIN, TWIN, "e", f"192.168.201.{host}/24"))
    commands = []
    for old, new, mac, address in nics:
        commands += [
            f"link set {old} down",
            *([f"link set {old} name {new}"] if old != new else []),
            f"link set {new} address 00:00:5e:00:53:{number}{mac} mtu {MTU}",
            *([f"address add {address} dev {new}"] if address else []),
            f"link set {new} up",
        ]
    for index, name in enumerate(EMPTY_PORT):
        # The far end stays down: no carrier, as without a cable.
        commands += [f"link add {name} type veth peer name end{index}", f"link set {name} up"]
    commands += [
        "link add docker0 type bridge",
        "address add 172.17.0.1/16 dev docker0",
        "link set docker0 up",
        f"link set {MANAGEMENT_NIC} down",
        f"link set {MANAGEMENT_NIC} name {MANAGEMENT}",
        f"link set {MANAGEMENT} up",
        f"route replace default via {HUB}",
    ]
    return "\n".join(commands)


def _ip(node: RunningNode, commands: str, *, inside: bool = True) -> None:
    """Run commands in a node's network; not ``inside``, process ids in them are those of this machine."""
    enter = ["nsenter", "-t", str(node.process.pid), "-n", *(["-m", "-p"] if inside else [])]
    subprocess.run([*enter, "--", "ip", "-batch", "-"], input=f"{commands}\n".encode(), check=True)


def _wear(node: RunningNode) -> None:
    tree = node.file(TREE)
    tree.mkdir()
    captures.write(node.name, tree, TOOLS)
    for path, (major, minor) in captures.devices(node.name).items():
        device = tree / path.removeprefix("/")
        device.parent.mkdir(parents=True, exist_ok=True)
        os.mknod(device, 0o020666, os.makedev(major, minor))
    script = (HERE / "wear.sh").read_text(encoding="utf-8")
    subprocess.run(node.enter(["sh", "-c", script, "sh", str(TREE)], base_environment()), check=True)
