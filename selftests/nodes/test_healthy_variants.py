"""What differs from the recorded pair and is no fault: the suite is silent about it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from selftests.proofs.bundle import HEAD, RAYLET, WORKER, in_json, in_text
from selftests.proofs.model import Fault
from selftests.proofs.observe import observe
from shakedown.nodes.evidence import Evidence

SECOND_MAC = "02:00:00:00:13:02"
PROXIES = (
    'LISTEN 0 4096 127.0.0.1:30000 0.0.0.0:* users:(("nginx",pid=81,fd=6),("nginx",pid=80,fd=6))\n'
    'LISTEN 0 4096 [::]:30000 [::]:* users:(("docker-proxy",pid=902,fd=7))\n'
)


def healthy_variant(evidence: Evidence) -> None:
    """A second NIC in the fabric that answers ARP, and is given to Gloo; an API port with a socket for each family."""

    def second_nic(links: list[dict[str, Any]]) -> None:
        fabric = next(link for link in links if link.get("ifname") == "fab0")
        address = {**fabric["addr_info"][0], "local": "192.168.200.113"}
        links.append({**fabric, "ifname": "fab1", "address": SECOND_MAC, "addr_info": [address]})

    in_json(evidence, WORKER, "ip -j addr", second_nic)
    in_text(evidence, HEAD, "ip -j neigh", r'"lladdr":"[^"]*"', f'"lladdr":"{SECOND_MAC}"')
    in_text(evidence, WORKER, RAYLET, r"^env GLOO_SOCKET_IFNAME=.*", "env GLOO_SOCKET_IFNAME=fab0,fab1")
    in_text(evidence, HEAD, "ss -H -ltnp", r"0\.0\.0\.0:30000 ", "192.168.200.12:30000 ")
    evidence.change(HEAD, "ss -H -ltnp", lambda text: text + PROXIES)


def test_no_check_alarms_at_a_healthy_variant(tmp_path: Path) -> None:
    variant = Fault("healthy-variant", "bundle", "NET-06", stage="serving", inject=healthy_variant)
    observed = observe(variant, tmp_path)
    assert not observed.failed, observed.text
    assert {"NET-06", "NET-13", "SRV-01"} <= observed.passed


GUARDED = """\
table inet guard {
	chain forward {
		type filter hook forward priority filter; policy drop;
		iifname "enp1s0f1np1" drop
	}
	chain input {
		type filter hook input priority filter; policy accept;
		ct state established,related accept
		iifname "enp1s0f1np1" ip saddr != 192.168.200.0/24 drop
		iifname "enP7s7" tcp dport != { 22, 30000 } ct state new drop
	}
}
"""


def one_of_each(evidence: Evidence) -> None:
    """A pair that was cabled while it ran, and is guarded against everybody but its own two nodes."""
    in_text(evidence, HEAD, "RDMA devices", r"(?<=^rocep1s0f1/ports/1/counters/link_downed:)0", "1")
    in_text(evidence, WORKER, "adapters in", r"(?<=^enp1s0f1np1/statistics/rx_errors:)0", "1")
    in_text(evidence, WORKER, "adapters in", r"(?<=^enP2p1s0f1np1/statistics/rx_crc_errors:)0", "40")
    in_text(evidence, WORKER, "adapters in", r"(?<=^enP2p1s0f1np1/statistics/rx_packets:)\d+", "900000000")
    for node in (HEAD, WORKER):
        evidence.change(node, "rules of the firewall", lambda _: GUARDED)


def test_no_check_alarms_at_a_pair_that_has_lived(tmp_path: Path) -> None:
    lived = Fault("lived", "bundle", "NET-21", stage="hosts", inject=one_of_each, pair="gb10")
    observed = observe(lived, tmp_path)
    assert not observed.failed, observed.text
    assert {"NET-21", "RAY-09", "NET-05"} <= observed.passed
