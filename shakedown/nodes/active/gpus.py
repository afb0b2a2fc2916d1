"""Every GPU kept busy for some seconds, and the clocks at which it then runs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from shakedown.errors import EvidenceError
from shakedown.inventory.model import Deployment, Node
from shakedown.nodes.active.action import act, script
from shakedown.nodes.evidence import Evidence
from shakedown.nodes.views.gpu import BUSY_PERCENT, slowdowns

SECONDS = 12
SETTLED_S = 3.0
"""After so long clocks are what load and heat make of them: nvidia-smi's utilisation is that of the last second."""

LIMIT_S = 120
"""The import of torch on a busy machine included."""

_SAMPLE = re.compile(
    r"(?P<index>\d+), (?P<busy>\d+), (?P<clock>\d+), (?P<power>[\d.]+|\[[^]]*\]), (?P<heat>\d+|\[[^]]*\])"
    r"(?:, (?P<reasons>\S+))?"
)


@dataclass(frozen=True, slots=True)
class Loaded:
    """A GPU under load.

    Attributes:
        node: its node.
        index: as nvidia-smi counts.
        clock_mhz: median of its SM clock.
        power_w, celsius: medians; None where they are not told.
        slowdowns: what held its clocks down in at least half of the samples, as far as that is heat or power.
        samples: how many there are.
    """

    node: str
    index: int
    clock_mhz: float
    power_w: float | None
    celsius: float | None
    slowdowns: tuple[str, ...]
    samples: int

    def __str__(self) -> str:
        told = [f"{self.clock_mhz:g} MHz"]
        told += [f"{value:g} {unit}" for value, unit in ((self.power_w, "W"), (self.celsius, "degrees C")) if value]
        return f"GPU {self.index} on {self.node}: {', '.join([*told, *self.slowdowns])}"


@dataclass(frozen=True, slots=True)
class Run:
    """The load of one node.

    Attributes:
        gpus: that were busy.
        tflops: 10^12 operations a second on each, in bfloat16, products of matrices.
    """

    gpus: tuple[Loaded, ...]
    tflops: tuple[float, ...]


def load(node: Node, deployment: Deployment, evidence: Evidence) -> Run:
    """Load the GPUs of one node.

    Raises:
        EvidenceError: see :func:`act`; not as many GPUs were busy as the node is declared to have.
        NodeUnreachableError: see :func:`act`.
    """
    command = script("load_gpus", node.python, str(SECONDS), limit_s=LIMIT_S)
    said = act(deployment, evidence, {node.name: command})[node.name]
    gpus = parse_samples(node.name, said["samples"])
    if len(gpus) < max(node.gpus, 1):
        why = "; ".join(map(str, said["problems"])) or "nvidia-smi saw no load"
        raise EvidenceError(f"{len(gpus)} of {node.gpus} GPUs of {node.name} could be kept busy: {why}")
    return Run(gpus, tuple(map(float, said["tflops"])))


def parse_samples(node: str, samples: Sequence[Mapping[str, Any]]) -> tuple[Loaded, ...]:
    """``{"at": SECONDS, "gpus": [LINE, ...]}`` -> GPUs that were busy all the time from `SETTLED_S` on."""
    settled: dict[int, list[re.Match[str]]] = {}
    for sample in samples:
        for line in sample["gpus"] if float(sample["at"]) >= SETTLED_S else ():
            match = _SAMPLE.fullmatch(str(line).strip())
            if match:
                settled.setdefault(int(match["index"]), []).append(match)
    return tuple(
        _loaded(node, index, own)
        for index, own in sorted(settled.items())
        if median(int(one["busy"]) for one in own) >= BUSY_PERCENT
    )


def _loaded(node: str, index: int, samples: list[re.Match[str]]) -> Loaded:
    reasons = [reason for one in samples for reason in slowdowns(one["reasons"] or "") or ()]
    return Loaded(
        node=node,
        index=index,
        clock_mhz=median(int(one["clock"]) for one in samples),
        power_w=_median(one["power"] for one in samples),
        celsius=_median(one["heat"] for one in samples),
        slowdowns=tuple(reason for reason in dict.fromkeys(reasons) if 2 * reasons.count(reason) >= len(samples)),
        samples=len(samples),
    )


def _median(values: Iterable[str]) -> float | None:
    told = [float(value) for value in values if not value.startswith("[")]
    return median(told) if told else None
