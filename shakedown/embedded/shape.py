"""How an embedded deployment is made: the defaults make a healthy one, every other value is wrong in one way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from shakedown.embedded.network import FABRIC_NIC, MTU

Role = Literal["head", "worker"]
Damage = Literal[
    "shard truncated", "shard missing", "shard corrupted", "other revision", "unknown architecture", "folder missing"
]

BOTH: frozenset[Role] = frozenset({"head", "worker"})
HEAD: frozenset[Role] = frozenset({"head"})
WORKER: frozenset[Role] = frozenset({"worker"})
NOBODY: frozenset[Role] = frozenset()

KV_CACHE_BYTES = 256 * 2**20
"""Of a rank: more than 40 requests of the greatest length."""


@dataclass(frozen=True, slots=True)
class Shape:
    """How a deployment is made.

    Attributes:
        ray_network: whose addresses are given to ``ray start``.
        host_ip_on: nodes that get ``VLLM_HOST_IP``.
        wrong_host_ip: another address than the node's own in it, by role.
        gloo_nic_on: nodes that get ``GLOO_SOCKET_IFNAME``; its value is the name of the head's fabric NIC.
        gloo_nic: another value, by role.
        names_on_loopback: whether the nodes' names lead to 127.0.1.1, as an installer leaves them.
        management_isolated: whether the management network lets the nodes talk to each other no more than a guarded
            one does; without it, traffic takes the wrong network but arrives.
        monitor_off_on: nodes on which Ray's memory monitor is switched off.
        monitor_headroom: bytes of memory beyond what is used when Ray starts after which its memory monitor kills, by
            role; looked at ten times a second.
        joins: whether the worker is told to join.
        worker_dies: whether the worker's Ray is killed once it has joined.
        accelerator_held: whether a placement group that nobody owns any more holds the worker's accelerator.
        engine_on: nodes on which the Python of Ray's workers can import the engine.
        fabric_nic: name of the fabric NIC, by role.
        fabric_up_on: nodes whose fabric NIC is up.
        mtu: of the fabric NIC, bytes, by role.
        dropped: what a packet filter drops of what comes in by the fabric NIC, in words of nft(8), by role.
        rate: to which the fabric NICs are throttled, in words of tc(8).
        model: what is wrong with a node's copy of the model.
        port_taken: whether something else listens on the API port of the head.
        left_over_on: nodes on which a Ray of an earlier deployment still runs, with a GCS of its own.
        kv_cache_bytes: of a rank, as declared and as given to the engine.
    """

    ray_network: Literal["fabric", "management"] = "fabric"
    host_ip_on: frozenset[Role] = BOTH
    wrong_host_ip: Mapping[Role, str] = field(default_factory=dict)
    gloo_nic_on: frozenset[Role] = BOTH
    gloo_nic: Mapping[Role, str] = field(default_factory=dict)
    names_on_loopback: bool = False
    management_isolated: bool = False
    monitor_off_on: frozenset[Role] = BOTH
    monitor_headroom: Mapping[Role, int] = field(default_factory=dict)
    joins: bool = True
    worker_dies: bool = False
    accelerator_held: bool = False
    engine_on: frozenset[Role] = BOTH
    fabric_nic: Mapping[Role, str] = field(default_factory=lambda: {"head": FABRIC_NIC, "worker": FABRIC_NIC})
    fabric_up_on: frozenset[Role] = BOTH
    mtu: Mapping[Role, int] = field(default_factory=lambda: {"head": MTU, "worker": MTU})
    dropped: Mapping[Role, str] = field(default_factory=dict)
    rate: str | None = None
    model: Mapping[Role, Damage] = field(default_factory=dict)
    port_taken: bool = False
    left_over_on: frozenset[Role] = NOBODY
    kv_cache_bytes: int = KV_CACHE_BYTES


HEALTHY = Shape()
