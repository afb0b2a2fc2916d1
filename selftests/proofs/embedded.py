"""Faults of the real embedded deployment: real NICs, real Ray, a real engine, built wrong in one way each."""

from __future__ import annotations

from collections.abc import Mapping

from selftests.proofs.model import Fault


def real(name: str, stage: str, check: str, companions: Mapping[str, str] | None = None) -> Fault:
    """A fault of `up --fault`, looked for by the infra suite at the stage where an operator would meet it first."""
    return Fault(name, "embedded", check, companions or {}, stage=stage)


FAULTS: tuple[Fault, ...] = (
    real("fabric-nic-down", "hosts", "NET-01"),
    real("mtu-mismatch", "hosts", "NET-07"),
    real("shard-truncated", "hosts", "MOD-01"),
    real("api-port-taken", "hosts", "SRV-01"),
    real("ray-on-management", "ray", "RAY-01"),
    real("host-ip-missing-on-worker", "ray", "RAY-02"),
    real("host-ip-only-for-server", "ray", "RAY-02"),
    real("memory-monitor-on-worker", "ray", "MEM-01"),
    real("worker-not-joined", "ray", "RAY-03"),
)
