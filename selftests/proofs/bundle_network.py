"""Faults of the network, RDMA and NCCL's settings as the recorded GB10 pair would show them."""

from __future__ import annotations

import json
from collections.abc import Callable
from operator import methodcaller
from typing import Any

from selftests.proofs.bundle import HEAD, RAYLET, WORKER, in_json, in_text
from selftests.proofs.model import Fault
from shakedown.nodes.evidence import Evidence
from shakedown.nodes.views.system import NCCL

RDMA = "RDMA devices"
BOOT = "files that keep"
LOGIN = "env |"
ADAPTERS = "adapters in /sys/class/net"
FIRST, TWIN = "rocep1s0f1", "roceP2p1s0f1"
TWIN_NIC = "enP2p1s0f1np1"
ONE_PORT_OPEN = """\
table ip filter {
\tchain INPUT {
\t\ttype filter hook input priority filter; policy drop;
\t\tcounter packets 91 bytes 5460 jump ufw-user-input
\t}
\tchain ufw-user-input {
\t\tmeta l4proto tcp tcp dport 22 counter packets 3 bytes 180 accept
\t\tip saddr 192.168.200.0/24 tcp dport 6379 counter packets 0 bytes 0 accept
\t}
}
"""


FIREWALLD = """\
table inet firewalld {
\tchain filter_INPUT {
\t\ttype filter hook input priority filter + 10; policy accept;
\t\tct state { established, related } accept
\t\tiifname "lo" accept
\t\tct state invalid drop
\t\tjump filter_INPUT_ZONES
\t\treject with icmpx admin-prohibited
\t}
\tchain filter_INPUT_ZONES {
\t\tgoto filter_IN_public
\t}
\tchain filter_IN_public {
\t\ttcp dport 22 accept
\t\tmeta l4proto { icmp, ipv6-icmp } accept
\t}
}
"""


def twin_on_two_lanes(evidence: Evidence) -> None:
    """An old firmware gives the second half two lanes (DeepSeek-v4-Flash-Vision-Exp-DSpark pull request 35)."""
    in_text(evidence, WORKER, ADAPTERS, rf"(?<=^{TWIN_NIC}/device/current_link_width:)4", "2")


def damaged_packets(evidence: Evidence) -> None:
    """A plug that is not quite in: packets arrive damaged."""
    in_text(evidence, WORKER, ADAPTERS, r"(?<=^enp1s0f1np1/statistics/rx_crc_errors:)0", "417")


def link_down_now_and_then(evidence: Evidence) -> None:
    """The RDMA device lost its link again and again since the node was started."""
    in_text(evidence, HEAD, RDMA, rf"(?<=^{FIRST}/ports/1/counters/link_downed:)0", "23")


def address_set_by_hand(evidence: Evidence) -> None:
    """``ip addr add``, and a netplan file that knows nothing of it."""
    in_text(evidence, WORKER, BOOT, r"^naming ", "other ")


def symbol_errors(evidence: Evidence) -> None:
    """The same, as the RDMA device counts it."""
    in_text(evidence, HEAD, RDMA, rf"(?<=^{TWIN}/ports/1/counters/symbol_error:)0", "35")


def link_flaps(evidence: Evidence) -> None:
    """The link goes and comes, as after a cable was moved while the machine ran (dgx-spark-playbooks#108)."""
    in_text(evidence, WORKER, ADAPTERS, r"(?<=^enp1s0f1np1/carrier_changes:)\d+", "64")


def twin_with_small_mtu(evidence: Evidence) -> None:
    """Large packets were set for the first half of the port only."""

    def edit(links: list[dict[str, Any]]) -> None:
        next(link for link in links if link.get("ifname") == TWIN_NIC).update(mtu=1500)

    for node in (HEAD, WORKER):
        in_json(evidence, node, "ip -j addr", edit)


def one_subnet_for_twins(evidence: Evidence) -> None:
    """Both halves of the port in one subnet (spark-vllm-docker#270)."""

    def move(links: list[dict[str, Any]]) -> None:
        twin = next(link for link in links if link.get("ifname") == TWIN_NIC)
        next(info for info in twin["addr_info"] if info["family"] == "inet")["local"] = "192.168.200.113"

    in_json(evidence, WORKER, "ip -j addr", move)


def route_by_vpn(evidence: Evidence) -> None:
    """A VPN has taken over the way to the fabric's subnet, as one that accepts the routes of others does."""
    route = [{"dst": "192.168.200.12", "dev": "tailscale0", "prefsrc": "100.64.215.62", "flags": [], "cache": []}]
    evidence.change(WORKER, "ip -j -4 route get 192.168", lambda _: json.dumps(route))


def firewall_with_one_port(evidence: Evidence) -> None:
    """ufw is on, and only Ray's own port was opened."""
    evidence.change(WORKER, "rules of the firewall", lambda _: ONE_PORT_OPEN)


def firewalld_with_its_default_zone(evidence: Evidence) -> None:
    """firewalld is on, and nobody gave the fabric NIC to a zone that trusts it: pings pass, connections do not."""
    evidence.change(WORKER, "rules of the firewall", lambda _: FIREWALLD)


def second_half_gone(evidence: Evidence) -> None:
    """The second half of the port did not come back from a warm reboot."""
    in_text(evidence, WORKER, RDMA, rf"^{TWIN}/.*\n", "")


def twins_without_address(evidence: Evidence) -> None:
    """Only the first half was given an address (dgx-spark-playbooks#103)."""
    for node in (HEAD, WORKER):
        _without_address(evidence, node)


def twin_without_address_on_worker(evidence: Evidence) -> None:
    """The address of the second half went with a reboot, on one node (DeepSeek-v4-Flash-Vision-Exp-DSpark#38)."""
    _without_address(evidence, WORKER)


def _without_address(evidence: Evidence, node: str) -> None:
    in_text(evidence, node, RDMA, rf"^{TWIN}/ports/1/gids/[23]:.*\n", "")


def nccl_uses_one_half(evidence: Evidence) -> None:
    """NCCL is told one half of the port only (dgx-spark-playbooks#102)."""
    for node in (HEAD, WORKER):
        in_text(evidence, node, RAYLET, r"^env NCCL_IB_HCA=.*", f"env NCCL_IB_HCA={FIRST}")


def hca_of_the_empty_port(evidence: Evidence) -> None:
    """The names of the other port, which has no cable (spark-vllm-docker#252)."""
    in_text(evidence, WORKER, RAYLET, r"^env NCCL_IB_HCA=.*", "env NCCL_IB_HCA=rocep1s0f0,roceP2p1s0f0")


def hcas_with_a_blank(evidence: Evidence) -> None:
    """A blank after the comma: NCCL trims nothing, so the second name fits no device."""
    in_text(evidence, WORKER, RAYLET, r"^env NCCL_IB_HCA=.*", f"env NCCL_IB_HCA={FIRST}, {TWIN}")


def gid_index_copied(evidence: Evidence) -> None:
    """An index from elsewhere leads to a link-local address (sparkring#290)."""
    in_text(evidence, WORKER, RAYLET, r"^env NCCL_IB_HCA=.*", r"\g<0>\nenv NCCL_IB_GID_INDEX=1")


def gid_index_drifted(evidence: Evidence) -> None:
    """The table was shuffled, and the pinned 3 leads nowhere on one device (DeepSeek-v4-Flash-Vision-Exp-DSpark#38)."""
    for node in (HEAD, WORKER):
        in_text(evidence, node, RAYLET, r"^env NCCL_IB_HCA=.*", r"\g<0>\nenv NCCL_IB_GID_INDEX=3")
    in_text(evidence, WORKER, RDMA, rf"^({TWIN}/ports/1/(?:gids|gid_attrs/types|gid_attrs/ndevs))/3:", r"\1/4:")


def no_device_files(evidence: Evidence) -> None:
    """The container was made without --device /dev/infiniband (nccl#952)."""
    evidence.change(WORKER, "ls /dev/infiniband", lambda _: "", exit_code=2)


def no_verbs_library(evidence: Evidence) -> None:
    """The image has no libibverbs, so NCCL goes on with sockets."""
    evidence.change(HEAD, "ldconfig -p", lambda _: "")


def nic_of_the_empty_port(evidence: Evidence) -> None:
    """NCCL's bootstrap is told a NIC without a cable (nccl#1837)."""
    in_text(evidence, WORKER, RAYLET, r"^env NCCL_SOCKET_IFNAME=.*", "env NCCL_SOCKET_IFNAME=enp1s0f0np0")


def nic_excluded_by_name(evidence: Evidence) -> None:
    """Only loopback is excluded on a node whose first other NIC is Docker's bridge."""

    def bridge_first(links: list[dict[str, Any]]) -> None:
        bridge = next(link for link in links if link.get("ifname") == "docker0")
        bridge.update(operstate="UP", flags=["BROADCAST", "MULTICAST", "UP", "LOWER_UP"])
        links.remove(bridge)
        links.insert(1, bridge)

    in_json(evidence, WORKER, "ip -j addr", bridge_first)
    in_text(evidence, WORKER, RAYLET, r"^env NCCL_SOCKET_IFNAME=.*", "env NCCL_SOCKET_IFNAME=^lo")


def hca_of_the_head_only(evidence: Evidence) -> None:
    """Only the head has a variable, and the worker has no device of that name (vllm#40991)."""
    evidence.change(HEAD, "env |", lambda text: f"{text}NCCL_IB_HCA={FIRST},{TWIN}\n")
    in_text(evidence, WORKER, RAYLET, r"^env NCCL_IB_HCA=.*\n", "")
    for half in ("p1s0f", "P2p1s0f"):
        in_text(evidence, WORKER, RDMA, rf"^roce{half}1/", f"roce{half}3/")


def gloo_told_an_hca(evidence: Evidence) -> None:
    """The container was made with `-e GLOO_SOCKET_IFNAME=` and the name of an RDMA device."""
    evidence.change(WORKER, LOGIN, lambda text: f"{text}GLOO_SOCKET_IFNAME={FIRST}\n")


def container_resolves_to_loopback(evidence: Evidence) -> None:
    """The container has no variable for Gloo, and its name is that of an installer's /etc/hosts."""
    evidence.change(WORKER, "getent ahostsv4", lambda _: "127.0.1.1       STREAM node-b\n")


def container_serialises(evidence: Evidence) -> None:
    """The container was made with a setting for finding faults."""
    evidence.change(WORKER, LOGIN, lambda text: f"{text}CUDA_LAUNCH_BLOCKING=1\n")


def nccl_older_on_worker(evidence: Evidence) -> None:
    """Two images, two NCCLs (vllm#16714)."""
    for node, version in ((HEAD, "2.28.9"), (WORKER, "2.26.2")):
        in_json(evidence, node, "python versions/1 nvidia-nccl", methodcaller("update", {NCCL: version}))


def protocol_on_worker(evidence: Evidence) -> None:
    """A setting for finding faults was left on one node."""
    in_text(evidence, WORKER, RAYLET, r"^env NCCL_IB_HCA=.*", r"\g<0>\nenv NCCL_PROTO=LL")


def kernel_older_on_worker(evidence: Evidence) -> None:
    """One node was updated, the other was not."""
    in_text(evidence, WORKER, "kernel, system, driver", r"^kernel\t.*", "kernel\t6.14.0-1015-nvidia")


def firmware_older_on_worker(evidence: Evidence) -> None:
    """The same, of the adapter's firmware."""
    in_text(evidence, WORKER, RDMA, r"(?<=/fw_ver:)28\.45\.4028", "28.43.1014")


def _fault(name: str, check: str, stage: str, inject: Callable[[Evidence], None], **companions: str) -> Fault:
    reasons = {id.replace("_", "-"): reason for id, reason in companions.items()}
    return Fault(f"gb10-{name}", "bundle", check, companions=reasons, stage=stage, inject=inject, pair="gb10")


FAULTS: tuple[Fault, ...] = (
    _fault("twin-on-two-lanes", "NET-02", "hosts", twin_on_two_lanes),
    _fault("damaged-packets", "NET-21", "hosts", damaged_packets),
    _fault("link-down-now-and-then", "NET-21", "hosts", link_down_now_and_then),
    _fault("address-set-by-hand", "NET-05", "hosts", address_set_by_hand),
    _fault("gloo-told-an-hca", "NET-13", "hosts", gloo_told_an_hca),
    _fault("container-resolves-to-loopback", "NET-14", "hosts", container_resolves_to_loopback),
    _fault("container-serialises", "ENV-07", "hosts", container_serialises),
    _fault("symbol-errors", "NET-21", "ray", symbol_errors),
    _fault("link-flaps", "NET-21", "hosts", link_flaps),
    _fault("twin-with-small-mtu", "NET-07", "hosts", twin_with_small_mtu),
    _fault("one-subnet-for-twins", "NET-04", "hosts", one_subnet_for_twins),
    _fault("route-by-vpn", "NET-16", "hosts", route_by_vpn),
    _fault("firewall-with-one-port", "RAY-09", "hosts", firewall_with_one_port),
    _fault("firewalld-with-its-default-zone", "RAY-09", "hosts", firewalld_with_its_default_zone),
    _fault("second-half-gone", "NET-20", "hosts", second_half_gone, NET_10="the active devices differ between nodes"),
    _fault("twins-without-address", "NET-03", "hosts", twins_without_address),
    _fault(
        "twin-without-address-on-worker",
        "NET-08",
        "hosts",
        twin_without_address_on_worker,
        NET_03="a half without an address is not used as the other one is",
    ),
    _fault("nccl-uses-one-half", "NET-03", "ray", nccl_uses_one_half),
    _fault("hca-of-the-empty-port", "NET-09", "ray", hca_of_the_empty_port),
    _fault("hcas-with-a-blank", "NET-09", "ray", hcas_with_a_blank),
    _fault("gid-index-copied", "NET-08", "ray", gid_index_copied),
    _fault("gid-index-drifted", "NET-08", "ray", gid_index_drifted),
    _fault("no-device-files", "NET-11", "hosts", no_device_files),
    _fault("no-verbs-library", "NET-11", "ray", no_verbs_library),
    _fault("nic-of-the-empty-port", "NET-12", "ray", nic_of_the_empty_port),
    _fault("nic-excluded-by-name", "NET-12", "ray", nic_excluded_by_name),
    _fault(
        "hca-of-the-head-only", "NET-10", "ray", hca_of_the_head_only, NET_20="the declared names are not there either"
    ),
    _fault("nccl-older-on-worker", "NET-18", "hosts", nccl_older_on_worker),
    _fault("protocol-on-worker", "NET-18", "ray", protocol_on_worker),
    _fault("kernel-older-on-worker", "PLT-03", "hosts", kernel_older_on_worker),
    _fault("firmware-older-on-worker", "PLT-03", "ray", firmware_older_on_worker),
)
