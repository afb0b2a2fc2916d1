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
