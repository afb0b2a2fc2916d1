"""How much each lane of the fabric carries, measured: some TCP streams one way, and then the other way."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from shakedown.errors import EvidenceError
from shakedown.inventory.model import Deployment
from shakedown.nodes.active.action import act, script
from shakedown.nodes.active.lanes import End, Lane
from shakedown.nodes.active.ports import EPHEMERAL
from shakedown.nodes.answer import Command
from shakedown.nodes.evidence import Evidence

SECONDS = 5
STREAMS = 8
LIMIT_S = 60

LEAST_SHARE = 0.1
"""Of the link's own speed: less than any machine's TCP, more than the 13 of 200 Gb/s of a link in its bad state.

Source: https://github.com/NVIDIA/dgx-spark-playbooks/issues/108
"""

MOST_SENT_AGAIN = 0.01
"""Share of the packets; streams that compete for a sound cable lose far fewer, and a bad one more. Ours."""


@dataclass(frozen=True, slots=True)
class Flow:
    """What arrived from one end of a lane at the other.

    Attributes:
        source, target: both ends.
        mbps: Mb/s, as link speeds are given.
        sent_again: share of the packets that had to be; None where the kernel does not tell.
    """

    source: End
    target: End
    mbps: float
    sent_again: float | None

    @property
    def name(self) -> str:
        """By which it is recorded."""
        return f"{self.source.node.name}.{self.target.node.name}.{self.source.nic}"

    def __str__(self) -> str:
        again = "" if self.sent_again is None else f", {self.sent_again:.2%} of the packets sent again"
        way = f"{self.source.node.name} -> {self.target.node.name} by {self.source.nic}"
        return f"{way}: {self.mbps:.0f} Mb/s{again}"


def flows(lanes: Sequence[Lane], deployment: Deployment, evidence: Evidence) -> tuple[Flow, ...]:
    """Both directions of each lane, one after another.

    Raises:
        EvidenceError: see :func:`act`; nothing arrived.
        NodeUnreachableError: see :func:`act`.
    """
    found = []
    for lane in lanes:
        wanted = {
            lane.head.node.name: _command(lane.head, lane.worker, lane, "first"),
            lane.worker.node.name: _command(lane.worker, lane.head, lane, "second"),
        }
        said = act(deployment, evidence, wanted)
        for source, target in lane.ends:
            received, sent = said[target.node.name], said[source.node.name]
            if received["seconds"] <= 0:
                raise EvidenceError(f"nothing arrived at {target.node.name} from {source.node.name} by {source.nic}")
            again = sent["sent_again"] / sent["sent"] if sent.get("sent") else None
            found.append(Flow(source, target, received["bytes"] * 8 / received["seconds"] / 1e6, again))
    return tuple(found)


def _command(end: End, peer: End, lane: Lane, turn: str) -> Command:
    arguments = (str(SECONDS), str(STREAMS), str(end.address), str(peer.address), str(_port()), turn)
    return script("stream_bytes", end.node.python, *arguments, limit_s=LIMIT_S, variant=f"with {lane}")


@cache
def _port() -> int:
    return secrets.choice(EPHEMERAL)
