"""Why a launch stands still, from what the nodes say when they are asked."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address

from shakedown.engines.nccl import Selector
from shakedown.engines.vllm.phases import PhaseName
from shakedown.inventory.model import Deployment, Node
from shakedown.launch.sockets import Waiting, waiting

SSH = 22
MOST_EVIDENCE = 12
_USUAL = {
    PhaseName.RAY: "RAY-03",
    PhaseName.C10D: "NET-16",
    PhaseName.NCCL: "NET-17",
    PhaseName.GRAPHS: "SRV-02",
}
"""What silence in that phase mostly is, where nothing else is found."""

_VARIABLE = re.compile(r"^([A-Z_]+)=(.*)$")
_RAY_ADDRESS = re.compile(r"^--node_ip_address=(\S+)$")


@dataclass(frozen=True, slots=True)
class Gathered:
    """What a node said when it was asked at a stall; an event of the watch like all others.

    Attributes:
        node: which.
        at: when.
        text: sections, each under a line ``== TITLE``.
    """

    node: str
    at: float
    text: str

    def section(self, title: str) -> list[str] | None:
        """Its lines; None where the node said nothing of it."""
        parts = re.split(r"^== (.+)$", self.text, flags=re.MULTILINE)
        found = [body for name, body in zip(parts[1::2], parts[2::2], strict=True) if name.strip() == title]
        return [line for line in "\n".join(found).splitlines() if line.strip()] if found else None


@dataclass(frozen=True, slots=True)
class Cause:
    """What a stall comes from.

    Attributes:
        fault: id in the catalogue; None where no known fault explains it.
        node: where it lies; None where that is not known.
        found: in one sentence.
        evidence: lines of the nodes that say so, each with its node.
    """

    fault: str | None
    node: str | None
    found: str
    evidence: tuple[str, ...] = ()


def cause_of(
    deployment: Deployment, phase: PhaseName, gathered: Sequence[Gathered], meeting: IPv4Address | None = None
) -> Cause:
    """The cause of silence in a phase.

    Args:
        deployment: what is meant.
        phase: where it stands still.
        gathered: what the nodes said.
        meeting: address of ``distributed_init_method``, where the log has named it.
    """
    sockets = [socket for one in gathered for socket in _relevant(deployment, one)]
    astray = [socket for socket in sockets if not deployment.fabric.holds(socket.peer)]
    lost_meeting = meeting is not None and not deployment.fabric.holds(meeting)
    evidence = tuple(f"{socket.node}: {socket}" for socket in sockets) + _told(gathered)
    if phase.order >= PhaseName.ENGINE.order and phase.order <= PhaseName.NCCL.order:
        wrong = [*_wrongly_given(deployment, gathered, away=bool(astray) or lost_meeting)]
        if wrong:
            return Cause(wrong[0].fault, wrong[0].node, _both(astray, meeting, lost_meeting, wrong[0].found), evidence)
        if astray or lost_meeting:
            return Cause(
                "RAY-02", None, _both(astray, meeting, lost_meeting, "who was given it is not known"), evidence
            )
        if sockets:
            return _unanswered(deployment, phase, sockets[0], evidence)
    return Cause(_USUAL.get(phase), None, "no node says what it waits for", evidence)


def _relevant(deployment: Deployment, one: Gathered) -> Iterator[Waiting]:
    """Connections between nodes: not a public host (usage statistics, a model hub), not ssh."""
    for socket in waiting(one.node, one.section("waiting sockets") or ()):
        if (deployment.fabric.holds(socket.peer) or socket.peer.is_private) and socket.port != SSH:
            yield socket


def _unanswered(deployment: Deployment, phase: PhaseName, socket: Waiting, evidence: tuple[str, ...]) -> Cause:
    owner = next((node.name for node in deployment.node if node.fabric_address == socket.peer), str(socket.peer))
    found = f"{socket.node} gets no answer from {owner}: {socket}"
    if socket.port == deployment.ray.port:
        return Cause("RAY-08", socket.node, found, evidence)
    return Cause("RAY-09" if phase is PhaseName.RAY else "NET-16", socket.node, found, evidence)


def _wrongly_given(deployment: Deployment, gathered: Sequence[Gathered], *, away: bool) -> Iterator[Cause]:
    """What the environment of Ray has against the deployment file, the most telling first.

    A variable that is missing says nothing by itself: what is detected then may well be right.
    """
    known = [(deployment.named(one.node), lines) for one in gathered if (lines := one.section("environment of ray"))]
    for node, lines in known:
        address = next((match[1] for line in lines if (match := _RAY_ADDRESS.match(line))), None)
        if address is not None and not _in_fabric(deployment, address):
            yield Cause("RAY-01", node.name, f"Ray on {node.name} is at {address}, not at {node.fabric_address}")
    for node, lines in known:
        yield from _wrong_host_ip(node, lines, away=away)
    for node, lines in known:
        yield from _wrong_interface(node, _variables(lines))


def _wrong_host_ip(node: Node, lines: list[str], *, away: bool) -> Iterator[Cause]:
    value = _variables(lines).get("VLLM_HOST_IP")
    if value is None and (not away or "not readable" in lines):
        return
    if value != str(node.fabric_address):
        said = f"is {value}" if value else "is not set"
        yield Cause("RAY-02", node.name, f"VLLM_HOST_IP {said} for Ray on {node.name}; {node.fabric_address} is meant")


def _wrong_interface(node: Node, variables: dict[str, str]) -> Iterator[Cause]:
    gloo, sockets = variables.get("GLOO_SOCKET_IFNAME"), variables.get("NCCL_SOCKET_IFNAME")
    if gloo is not None and node.interface not in gloo.split(","):
        yield Cause("NET-13", node.name, f"GLOO_SOCKET_IFNAME={gloo} on {node.name}; {node.interface} is meant")
    if sockets is not None and not Selector.parse(sockets).takes(node.interface):
        yield Cause("NET-12", node.name, f"NCCL_SOCKET_IFNAME={sockets} on {node.name}; {node.interface} is meant")


def _both(astray: Sequence[Waiting], meeting: IPv4Address | None, lost_meeting: bool, found: str) -> str:
    where = [
        f"{socket.node} waits for {socket.peer}:{socket.port}, which is no fabric address" for socket in astray[:1]
    ]
    if lost_meeting:
        where.append(f"the ranks are to meet at {meeting}, which is no fabric address")
    return "; ".join([*where, found])


def _told(gathered: Sequence[Gathered]) -> tuple[str, ...]:
    """What else is worth a look, a few lines of each."""
    titles = ("not reached", "environment of ray", "stacks", "nccl ras", "gpu")
    return tuple(
        f"{one.node}: {line.strip()}"
        for title in titles
        for one in gathered
        for line in (one.section(title) or [])[:MOST_EVIDENCE]
    )


def _variables(lines: list[str]) -> dict[str, str]:
    return {match[1]: match[2] for line in lines if (match := _VARIABLE.match(line))}


def _in_fabric(deployment: Deployment, address: str) -> bool:
    try:
        return deployment.fabric.holds(IPv4Address(address))
    except ValueError:
        return False
