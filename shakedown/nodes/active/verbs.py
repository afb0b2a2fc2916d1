"""How much each RDMA device of the fabric carries, measured by perftest's ``ib_write_bw`` where machines have it."""

from __future__ import annotations

import re
import secrets
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from shakedown.errors import EvidenceError
from shakedown.nodes.active.lanes import End, Lane
from shakedown.nodes.active.ports import EPHEMERAL
from shakedown.nodes.answer import Command
from shakedown.nodes.evidence import Evidence

SECONDS = 5
LIMIT_S = 40

LEAST_SHARE = 0.4
"""Of the link's own speed: 80 of 200 Gb/s for one of the two devices that a port of a GB10 machine is.

Such a device gives 95 to 110, and one that has the port for itself more.
Source: https://github.com/NVIDIA/dgx-spark-playbooks/issues/108
"""

MISSING = "no ib_write_bw"

_SERVER = "command -v ib_write_bw >/dev/null || {{ echo {missing}; exit; }}; timeout {limit} {run}"
_CLIENT = """\
command -v ib_write_bw >/dev/null || {{ echo {missing}; exit; }}
for attempt in 1 2 3 4 5 6 7 8 9 10; do
    timeout {limit} {run} {peer} && exit
    sleep 1  # the peer may not have begun
done
exit 1"""


@dataclass(frozen=True, slots=True)
class Written:
    """What one end of a lane wrote into the other's memory.

    Attributes:
        source, target: both ends.
        gbps: Gb/s.
    """

    source: End
    target: End
    gbps: float

    @property
    def name(self) -> str:
        """By which it is recorded."""
        return f"{self.source.node.name}.{self.target.node.name}.{self.source.hca}"

    def __str__(self) -> str:
        return f"{self.source.node.name} -> {self.target.node.name} by {self.source.hca}: {self.gbps:.0f} Gb/s"


def with_devices(lanes: Sequence[Lane]) -> tuple[Lane, ...]:
    """The lanes that have an RDMA device at both ends."""
    return tuple(lane for lane in lanes if lane.head.hca and lane.worker.hca)


def written(lanes: Sequence[Lane], evidence: Evidence) -> tuple[Written, ...]:
    """Both directions of each lane that has RDMA devices, one after another; none where perftest is missing.

    Raises:
        EvidenceError: kept evidence holds no answer, or no bandwidth was measured.
        NodeUnreachableError: a node did not answer.
    """
    found = []
    for lane in with_devices(lanes):
        for source, target in lane.ends:
            wanted = {source.node.name: _client(source, target), target.node.name: _server(source, target)}
            if not all(evidence.knows(node, command) for node, command in wanted.items()):
                evidence.fetch({node: [command] for node, command in wanted.items()})
            said = {node: evidence.ask(node, command) for node, command in wanted.items()}
            if any(MISSING in answer.text for answer in said.values()):
                return ()
            answer = said[source.node.name]
            found.append(Written(source, target, parse_average(answer.text, answer.stderr.decode(errors="replace"))))
    return tuple(found)


def parse_average(text: str, complaint: str = "") -> float:
    """The output of ``ib_write_bw --report_gbits`` -> its average, Gb/s.

    Raises:
        EvidenceError: there is none.
    """
    lines = iter(text.splitlines())
    for line in lines:
        if "BW average[Gb/sec]" in line:
            break
    row = next((found for line in lines if (found := re.match(r"\s*\d+\s+\d+\s+[\d.]+\s+([\d.]+)", line))), None)
    if row is None:
        said = (complaint.strip() or text.strip() or "nothing").splitlines()[-1]
        raise EvidenceError(f"ib_write_bw measured nothing: {said}")
    return float(row[1])


def _run(end: End, way: str) -> str:
    options = f"-i 1 -x {end.gid} -D {SECONDS} -F --report_gbits -p {_port(way)}"
    return f"ib_write_bw -d {shlex.quote(str(end.hca))} {options}"


def _client(source: End, target: End) -> Command:
    text = _CLIENT.format(missing=MISSING, limit=SECONDS + 5, run=_run(source, f"{source}"), peer=target.address)
    return Command(text, limit_s=LIMIT_S, key=f"act ib_write_bw to {target.node.name} by {source.hca}")


def _server(source: End, target: End) -> Command:
    text = _SERVER.format(missing=MISSING, limit=SECONDS + 15, run=_run(target, f"{source}"))
    return Command(text, limit_s=LIMIT_S, key=f"act ib_write_bw from {source.node.name} by {target.hca}")


@cache
def _port(way: str) -> int:  # noqa: ARG001 - one for each
    return secrets.choice(EPHEMERAL)
