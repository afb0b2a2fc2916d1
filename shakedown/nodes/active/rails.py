"""Full-sized packets over the other NICs of the fabric: one port of a machine may be several, each with its subnet.

The declared NIC is tried at tier 0 already; what the others are is known only once the nodes have said it.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import IPv4Address
from itertools import permutations

from shakedown.nodes.answer import Command
from shakedown.nodes.evidence import Evidence
from shakedown.nodes.views.network import ICMP_AND_IP_HEADER, Echo, parse_echo
from shakedown.nodes.views.node import NodeViews


@dataclass(frozen=True, slots=True)
class Rail:
    """One direction between two nodes over one NIC that is not the declared one.

    Attributes:
        source, target: names of the nodes.
        nic: of the source.
        mtu: of that NIC, bytes.
        address: of the target, in the NIC's own subnet.
    """

    source: str
    target: str
    nic: str
    mtu: int
    address: IPv4Address

    @property
    def command(self) -> Command:
        """A ping that fills the MTU and must not be fragmented."""
        size = self.mtu - ICMP_AND_IP_HEADER
        return Command(f"ping -n -c 2 -i 0.2 -W 1 -M do -s {size} -I {shlex.quote(self.nic)} {self.address}")

    def __str__(self) -> str:
        return f"{self.source} -> {self.target} by {self.nic} ({self.address}, {self.mtu} bytes)"


def rails(views: Mapping[str, NodeViews]) -> tuple[Rail, ...]:
    """Every direction over every further NIC of the fabric that sees a signal and has a neighbour in its subnet."""
    found = []
    for source, target in permutations(views.values(), 2):
        others = [address.ip for nic in target.network.fabric_nics if nic.carrier for address in nic.addresses]
        for nic in source.network.fabric_nics:
            if not nic.carrier or nic.name == source.node.interface:
                continue
            near = [ip for own in nic.addresses for ip in others if ip in own.network and ip != own.ip]
            found += [Rail(source.node.name, target.node.name, nic.name, nic.mtu, ip) for ip in near]
    return tuple(found)


def echoes(views: Mapping[str, NodeViews], evidence: Evidence) -> tuple[tuple[Rail, Echo], ...]:
    """What became of a full-sized packet on each of them.

    Raises:
        EvidenceError: kept evidence holds no answer, or ping did not run.
        NodeUnreachableError: a node did not answer.
    """
    found = rails(views)
    new = [rail for rail in found if not evidence.knows(rail.source, rail.command)]
    if new:
        evidence.fetch({name: [r.command for r in new if r.source == name] for name in {r.source for r in new}})
    answers = [(rail, evidence.ask(rail.source, rail.command)) for rail in found]
    return tuple((rail, parse_echo(answer.text, answer.stderr.decode(errors="replace"))) for rail, answer in answers)
