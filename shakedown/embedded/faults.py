"""The faults that can be built into the embedded deployment, as changes of how it is made; ``up --fault NAME``."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

from shakedown.embedded.network import MTU
from shakedown.errors import LaunchError

Role = Literal["head", "worker"]
BOTH: frozenset[Role] = frozenset({"head", "worker"})


@dataclass(frozen=True, slots=True)
class Shape:
    """How a deployment is made; the defaults make a healthy one.

    Attributes:
        ray_network: whose addresses are given to ``ray start``.
        host_ip_on: nodes that get ``VLLM_HOST_IP``.
        management_isolated: whether the management network lets the nodes talk to each other no more than a guarded
            one does; without it, traffic takes the wrong network but arrives.
        monitor_off_on: nodes on which Ray's memory monitor is switched off.
        joins: whether the worker is told to join.
        fabric_up_on: nodes whose fabric NIC is up.
        mtu: of the fabric NIC, bytes, by role.
        truncated_on: nodes whose copy of the model has a truncated shard.
        port_taken: whether something else listens on the API port of the head.
    """

    ray_network: Literal["fabric", "management"] = "fabric"
    host_ip_on: frozenset[Role] = BOTH
    management_isolated: bool = False
    monitor_off_on: frozenset[Role] = BOTH
    joins: bool = True
    fabric_up_on: frozenset[Role] = BOTH
    mtu: dict[Role, int] = field(default_factory=lambda: {"head": MTU, "worker": MTU})
    truncated_on: frozenset[Role] = frozenset()
    port_taken: bool = False


@dataclass(frozen=True, slots=True)
class Fault:
    """A named fault: one line for people, and the shape it gives to a deployment."""

    name: str
    text: str
    shape: Shape


HEALTHY = Shape()
_HEAD: frozenset[Role] = frozenset({"head"})
_WORKER: frozenset[Role] = frozenset({"worker"})

FAULTS: tuple[Fault, ...] = (
    Fault(
        "ray-on-management",
        "Ray is bound to the management addresses, as it is when nobody tells it which to use",
        replace(HEALTHY, ray_network="management"),
    ),
    Fault(
        "host-ip-missing-on-worker",
        "VLLM_HOST_IP is missing in the environment of the worker's Ray",
        replace(HEALTHY, host_ip_on=_HEAD),
    ),
    Fault(
        "host-ip-only-for-server",
        "VLLM_HOST_IP is given to the API server and to no Ray, so rank 0 takes the management network, which carries "
        "nothing between the nodes: the launch hangs without a word",
        replace(HEALTHY, host_ip_on=frozenset(), management_isolated=True),
    ),
    Fault(
        "memory-monitor-on-worker",
        "Ray's memory monitor is switched off on the head only",
        replace(HEALTHY, monitor_off_on=_HEAD),
    ),
    Fault("worker-not-joined", "no Ray runs on the worker", replace(HEALTHY, joins=False)),
    Fault("fabric-nic-down", "the fabric NIC of the worker is down", replace(HEALTHY, fabric_up_on=_HEAD)),
    Fault(
        "mtu-mismatch",
        "the fabric NIC has an MTU of 9000 on the head and 1500 on the worker",
        replace(HEALTHY, mtu={"head": 9000, "worker": MTU}),
    ),
    Fault("shard-truncated", "one shard of the worker's model is cut off", replace(HEALTHY, truncated_on=_WORKER)),
    Fault("api-port-taken", "something else listens on the API port of the head", replace(HEALTHY, port_taken=True)),
)


def shape_of(fault: str | None) -> Shape:
    """The shape that a fault gives to a deployment; a healthy one for None.

    Raises:
        LaunchError: there is no fault of that name.
    """
    if fault is None:
        return HEALTHY
    for known in FAULTS:
        if known.name == fault:
            return known.shape
    raise LaunchError(f"no fault '{fault}'; known: {', '.join(known.name for known in FAULTS)}")
