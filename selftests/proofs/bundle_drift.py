"""Changes that are right or wrong only for somebody who knows whether they were meant: a golden bundle tells."""

from __future__ import annotations

from collections.abc import Callable

from selftests.proofs.bundle import HEAD, RAYLET, WORKER, in_json, in_text
from selftests.proofs.bundle_network import RDMA
from selftests.proofs.model import Fault, Pair
from selftests.proofs.observe import recorded
from shakedown.nodes.evidence import Evidence
from shakedown.outcomes import Stage


def firmware_updated(evidence: Evidence) -> None:
    """Both adapters came back from an update with another firmware."""
    for node in (HEAD, WORKER):
        in_text(evidence, node, RDMA, r"(?<=/fw_ver:)28\.45\.4028", "28.47.1026")


def torch_updated(evidence: Evidence) -> None:
    """An image of the same tag was pulled anew on both nodes."""
    for node in (HEAD, WORKER):
        in_json(evidence, node, "python versions/1 ray", lambda found: found.update(torch="2.13.1+cpu"))


def threads_exported(evidence: Evidence) -> None:
    """Somebody exported another number of threads before `ray start`, everywhere."""
    for node in (HEAD, WORKER):
        in_text(evidence, node, RAYLET, r"^env OMP_NUM_THREADS=.*", "env OMP_NUM_THREADS=8")


def _fault(name: str, stage: Stage, pair: Pair, inject: Callable[[Evidence], None]) -> Fault:
    golden = ("--golden", str(recorded(pair, stage)[1]))
    return Fault(f"{pair}-{name}", "bundle", "DRF-01", stage=stage, pair=pair, inject=inject, options=golden)


FAULTS: tuple[Fault, ...] = (
    _fault("firmware-updated", Stage.HOSTS, "gb10", firmware_updated),
    _fault("torch-updated", Stage.HOSTS, "gb10", torch_updated),
    _fault("threads-exported", Stage.RAY, "gb10", threads_exported),
)
