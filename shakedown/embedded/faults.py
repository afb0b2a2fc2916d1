"""The faults that can be built into the embedded deployment, by name; ``up --fault NAME``."""

from __future__ import annotations

from dataclasses import dataclass, replace

from shakedown.embedded.network import FABRIC_NIC, HEAD_ADDRESS, MANAGEMENT_NIC, MTU
from shakedown.embedded.shape import HEAD, HEALTHY, NOBODY, WORKER, Shape
from shakedown.errors import LaunchError
from shakedown.units import GIB


@dataclass(frozen=True, slots=True)
class Fault:
    """A named fault: one line for people, and the shape it gives to a deployment."""

    name: str
    text: str
    shape: Shape


FAULTS: tuple[Fault, ...] = (
    Fault(
        "ray-on-management",
        "Ray is bound to the management addresses, as it is when nobody tells it which to use",
        replace(HEALTHY, ray_network="management"),
    ),
    Fault(
        "host-ip-missing-on-worker",
        "VLLM_HOST_IP is missing in the environment of the worker's Ray",
        replace(HEALTHY, host_ip_on=HEAD),
    ),
    Fault(
        "host-ip-copied",
        "VLLM_HOST_IP is the head's address on both nodes, as from one file for both",
        replace(HEALTHY, wrong_host_ip={"worker": HEAD_ADDRESS}),
    ),
    Fault(
        "host-ip-only-for-server",
        "VLLM_HOST_IP is given to the API server and to no Ray, so rank 0 takes the management network, which carries "
        "nothing between the nodes: the launch hangs without a word",
        replace(HEALTHY, host_ip_on=NOBODY, management_isolated=True),
    ),
    Fault(
        "gloo-on-management",
        "GLOO_SOCKET_IFNAME names the management NIC on the worker",
        replace(HEALTHY, gloo_nic={"worker": MANAGEMENT_NIC}),
    ),
    Fault(
        "gloo-nic-unknown",
        "GLOO_SOCKET_IFNAME names a NIC that the worker does not have",
        replace(HEALTHY, gloo_nic={"worker": "fab9"}),
    ),
    Fault(
        "interface-names-differ",
        "the fabric NIC has another name on the worker, and GLOO_SOCKET_IFNAME is the head's on both nodes",
        replace(HEALTHY, fabric_nic={"head": FABRIC_NIC, "worker": "fab1"}),
    ),
    Fault(
        "names-on-loopback",
        "the nodes' names lead to 127.0.1.1 and nothing tells Gloo which NIC to take",
        replace(HEALTHY, names_on_loopback=True, gloo_nic_on=NOBODY),
    ),
    Fault(
        "memory-monitor-on-worker",
        "Ray's memory monitor is switched off on the head only",
        replace(HEALTHY, monitor_off_on=HEAD),
    ),
    Fault(
        "memory-monitor-strict",
        "Ray's memory monitor on the worker kills once 8 GiB more are used than before Ray started",
        replace(HEALTHY, monitor_headroom={"worker": 8 * GIB}),
    ),
    Fault("worker-not-joined", "no Ray runs on the worker", replace(HEALTHY, joins=False)),
    Fault("worker-died", "Ray on the worker was killed after it had joined", replace(HEALTHY, worker_dies=True)),
    Fault(
        "accelerator-held",
        "a placement group that outlived its job holds the worker's accelerator",
        replace(HEALTHY, accelerator_held=True),
    ),
    Fault(
        "engine-missing-on-worker",
        "the Python of the worker's Ray cannot import the engine",
        replace(HEALTHY, engine_on=HEAD),
    ),
    Fault("fabric-nic-down", "the fabric NIC of the worker is down", replace(HEALTHY, fabric_up_on=HEAD)),
    Fault(
        "mtu-mismatch",
        "the fabric NIC has an MTU of 9000 on the head and 1500 on the worker",
        replace(HEALTHY, mtu={"head": 9000, "worker": MTU}),
    ),
    Fault(
        "full-packets-dropped",
        "what is between the nodes drops packets above 1400 bytes, though both NICs have an MTU of 1500",
        replace(HEALTHY, dropped={"worker": "meta length > 1400"}),
    ),
    Fault(
        "ports-blocked",
        "a firewall on the worker lets the ports of ssh and Ray through and drops all others",
        replace(HEALTHY, dropped={"worker": "tcp dport != { 22, 6379 } ct state new"}),
    ),
    Fault(
        "gcs-blocked",
        "a firewall on the head drops what comes in for the port of Ray's GCS",
        replace(HEALTHY, dropped={"head": "tcp dport 6379"}),
    ),
    Fault(
        "ray-left-over",
        "a Ray of an earlier deployment still runs on the worker, with a GCS on Ray's port",
        replace(HEALTHY, left_over_on=WORKER),
    ),
    Fault(
        "link-lossy",
        "the worker's link loses one large packet of TCP in twenty",
        replace(HEALTHY, dropped={"worker": "ip protocol tcp meta length > 1000 numgen random mod 20 0"}),
    ),
    Fault("link-slow", "the fabric carries 20 Mb/s", replace(HEALTHY, rate="20mbit")),
    Fault(
        "shard-truncated",
        "one shard of the worker's model is cut off",
        replace(HEALTHY, model={"worker": "shard truncated"}),
    ),
    Fault(
        "shard-missing",
        "one shard of the worker's model is missing",
        replace(HEALTHY, model={"worker": "shard missing"}),
    ),
    Fault(
        "shard-corrupted",
        "one bit of one shard of the worker's model is wrong",
        replace(HEALTHY, model={"worker": "shard corrupted"}),
    ),
    Fault(
        "model-of-other-revision",
        "the worker's model is of another revision",
        replace(HEALTHY, model={"worker": "other revision"}),
    ),
    Fault(
        "model-missing-on-worker",
        "the model's folder is not there on the worker",
        replace(HEALTHY, model={"worker": "folder missing"}),
    ),
    Fault(
        "architecture-unknown",
        "the model's config.json names an architecture that no engine knows",
        replace(HEALTHY, model={"head": "unknown architecture", "worker": "unknown architecture"}),
    ),
    Fault("api-port-taken", "something else listens on the API port of the head", replace(HEALTHY, port_taken=True)),
    Fault(
        "kv-cache-too-large",
        "the KV cache of each rank is given 1024 GiB, far more than the machine has: the ranks end after the weights",
        replace(HEALTHY, kv_cache_bytes=1024 * GIB),
    ),
    Fault(
        "kv-cache-too-small",
        "the KV cache of each rank is given 1 MiB, less than one request of the greatest length needs",
        replace(HEALTHY, kv_cache_bytes=2**20),
    ),
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
