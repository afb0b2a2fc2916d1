"""Faults of the real embedded deployment: real NICs, real Ray, a real engine, built wrong in one way each."""

from __future__ import annotations

from collections.abc import Mapping

from selftests.proofs.model import Fault


def real(name: str, stage: str, check: str, companions: Mapping[str, str] | None = None, *, tier: int = 0) -> Fault:
    """A fault of `up --fault`, looked for by the infra suite at the stage where an operator would meet it first."""
    return Fault(name, "embedded", check, companions or {}, stage=stage, options=("--tier", str(tier)))


FAULTS: tuple[Fault, ...] = (
    real("fabric-nic-down", "hosts", "NET-01"),
    real("mtu-mismatch", "hosts", "NET-07"),
    real("full-packets-dropped", "hosts", "NET-07", tier=1),
    real("ports-blocked", "hosts", "RAY-09", tier=1),
    real("link-slow", "hosts", "NET-02", tier=2),
    real("link-lossy", "hosts", "NET-21", tier=2),
    real("ray-left-over", "hosts", "RAY-05"),
    real("shard-truncated", "hosts", "MOD-01"),
    real("shard-missing", "hosts", "MOD-01"),
    real("shard-corrupted", "hosts", "MOD-02", tier=2),
    real("model-of-other-revision", "hosts", "MOD-03"),
    real("api-port-taken", "hosts", "SRV-01"),
    real("model-missing-on-worker", "hosts", "MOD-03"),
    real("architecture-unknown", "hosts", "MOD-06"),
    real("kv-cache-too-large", "hosts", "MEM-02"),
    real("kv-cache-too-small", "hosts", "MEM-05"),
    real("ray-on-management", "ray", "RAY-01"),
    real("host-ip-missing-on-worker", "ray", "RAY-02"),
    real("host-ip-copied", "ray", "RAY-02"),
    real(
        "host-ip-only-for-server",
        "ray",
        "RAY-02",
        {"NET-16": "rank 0 is looked for at an address that the other node cannot reach"},
        tier=1,
    ),
    real("gloo-on-management", "ray", "NET-13"),
    real("gloo-nic-unknown", "ray", "NET-13"),
    real(
        "interface-names-differ",
        "ray",
        "NET-13",
        {"NET-10": "no name of a NIC serves both nodes, which is said before any value is wrong"},
    ),
    real(
        "names-on-loopback",
        "ray",
        "NET-14",
        {"NET-16": "Gloo tells the other rank to come to 127.0.1.1"},
        tier=1,
    ),
    real("memory-monitor-on-worker", "ray", "MEM-01"),
    real("memory-monitor-strict", "ray", "MEM-01"),
    real("worker-not-joined", "ray", "RAY-03"),
    real("worker-died", "ray", "RAY-07", {"RAY-03": "what has died is no longer in the cluster"}),
    real("accelerator-held", "ray", "RAY-06"),
    real("engine-missing-on-worker", "ray", "RAY-13", tier=1),
)
