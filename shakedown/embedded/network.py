"""The two networks of the embedded deployment, as commands for ``ip -batch``.

Everything is inside the deployment's own outer namespace, so the addresses are the same in every deployment and never
meet those of the machine. The management network is taken from 198.18.0.0/15, which RFC 2544 reserves for benchmarks.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from ipaddress import IPv4Network
from pathlib import Path
from typing import Literal

FABRIC = IPv4Network("192.168.200.0/24")
MANAGEMENT = IPv4Network("198.18.0.0/24")
HEAD_ADDRESS = str(FABRIC[12])
HUB = "198.18.0.1"
FABRIC_NIC = "fab0"  # the same on both healthy nodes: one GLOO_SOCKET_IFNAME serves all ranks
MANAGEMENT_NIC = "mgt0"
API_PORT = 30000
MTU = 1500


@dataclass(frozen=True, slots=True)
class NodePlan:
    """One node as it is to be made.

    Attributes:
        name: node and host name.
        role: ``head`` runs Ray's GCS and the API server.
        fabric, management: addresses.
        model: folder of the model on this machine.
        fabric_nic: name of the fabric NIC.
        mtu: of the fabric NIC, bytes.
        fabric_up: whether the fabric NIC is set up.
        isolated: whether the management network keeps the node from the other one, as a private VLAN does.
        taken_port: a TCP port on which something of no use listens.
        variables: further environment variables of `ray start`; they go before those of every node.
    """

    name: str
    role: Literal["head", "worker"]
    fabric: str
    management: str
    model: str
    fabric_nic: str = FABRIC_NIC
    mtu: int = MTU
    fabric_up: bool = True
    isolated: bool = False
    taken_port: int | None = None
    variables: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Plan:
    """What the hub is told: everything it needs to make the namespaces.

    Attributes:
        folder: the deployment's state folder.
        engine: prefix of the Python that has vLLM and Ray.
        plugin: folder of the platform plugin.
        nodes: the nodes, head first.
    """

    folder: str
    engine: str
    plugin: str
    nodes: tuple[NodePlan, ...]

    def save(self, path: Path) -> None:
        """Write it as JSON."""
        path.write_text(json.dumps(asdict(self), indent=1))

    @classmethod
    def load(cls, path: Path) -> Plan:
        """Read what `save` wrote."""
        fields = json.loads(path.read_text())
        return cls(**fields | {"nodes": tuple(NodePlan(**node) for node in fields["nodes"])})


def hub_commands() -> str:
    """The bridge that the management NICs are plugged into."""
    return f"""\
link set lo up
link add name hub type bridge
address add {HUB}/{MANAGEMENT.prefixlen} dev hub
link set hub up
route add unreachable default metric 4000
"""


def link_commands(nodes: tuple[NodePlan, ...], pids: dict[str, int]) -> str:
    """The cables: one pair from each node to the bridge, one pair between the two nodes.

    Args:
        nodes: both of them.
        pids: first process of each node, by name, in the PID namespace of the hub.
    """
    commands = []
    for node in nodes:
        port = f"m-{node.name}"
        commands += [
            f"link add name {port} type veth peer name {MANAGEMENT_NIC} netns {pids[node.name]}",
            f"link set {port} master hub up",
            f"link set {port} type bridge_slave isolated {'on' if node.isolated else 'off'}",
        ]
    ends = (f"name {node.fabric_nic} netns {pids[node.name]}" for node in nodes)
    commands.append(f"link add {' type veth peer '.join(ends)}")
    return "\n".join(commands) + "\n"


def node_commands(node: NodePlan) -> str:
    """Addresses and routes inside one node; the default route leads into the management network, as in most sites."""
    return f"""\
link set lo up
address add {node.management}/{MANAGEMENT.prefixlen} dev {MANAGEMENT_NIC}
link set {MANAGEMENT_NIC} up
route add default via {HUB}
link set {node.fabric_nic} mtu {node.mtu}
address add {node.fabric}/{FABRIC.prefixlen} dev {node.fabric_nic}
link set {node.fabric_nic} {"up" if node.fabric_up else "down"}
"""


def hosts_file(nodes: tuple[NodePlan, ...], *, on_loopback: bool = False) -> str:
    """``/etc/hosts`` of every node: names lead to management addresses, or to the one that Debian's installer takes."""
    lines = (f"{'127.0.1.1' if on_loopback else node.management} {node.name}\n" for node in nodes)
    return "127.0.0.1 localhost\n" + "".join(lines)
