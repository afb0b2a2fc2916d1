"""What differs from the recorded pair and is no fault: the suite is silent about it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from selftests.proofs.bundle import FOLDER, HEAD, RAYLET, WORKER, in_json, in_text
from selftests.proofs.bundle_environment import LOGIN, older_engine, set_for
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


def made_in_another_way(evidence: Evidence) -> None:
    """Containers of docker compose, from the image's full name, whose limit of locked memory a capability lifts."""

    def edit(answer: dict[str, Any]) -> None:
        answer["container"].update(tag="docker.io/hellohal2064/vllm-qwen3.5-gb10:latest", attached=True, compose="pair")

    for node in (HEAD, WORKER):
        in_json(evidence, node, "docker inspect", edit)
        in_text(evidence, node, "locked memory", r"^(new|raylet) \S+", r"\1 8388608")
        in_text(evidence, node, "locked memory", r"\S+ (\d+)$", r"00000000a80465fb \1")


def test_no_check_alarms_at_containers_that_were_made_in_another_way(tmp_path: Path) -> None:
    other = Fault("other-way", "bundle", "ENV-04", stage="ray", inject=made_in_another_way, pair="gb10")
    observed = observe(other, tmp_path)
    assert not observed.failed, observed.text
    assert {"ENV-04", "ENV-10", "MEM-13"} <= observed.passed


def test_no_check_alarms_at_a_pair_that_has_lived(tmp_path: Path) -> None:
    lived = Fault("lived", "bundle", "NET-21", stage="hosts", inject=one_of_each, pair="gb10")
    observed = observe(lived, tmp_path)
    assert not observed.failed, observed.text
    assert {"NET-21", "RAY-09", "NET-05"} <= observed.passed


OTHER_LAYOUT = "consolidated.safetensors"
FIRMWARE = (
    "[   12.1] {1}[Hardware Error]: Hardware error from APEI Generic Hardware Error Source: 1\n"
    "[   12.1] {1}[Hardware Error]: event severity: corrected\n"
)
STARTED = """
# it's the operator's own
set -a; . /etc/vllm.env; set +a
docker exec --env-file /etc/vllm.env -d vllm bash -c '
  # served under two names
  vllm serve /run/shakedown/model --served-model-name large shakedown-tiny --port 30000 --max-model-len 4096 \\
    --gpu-memory-utilization 0.80 --tensor-parallel-size 2 --distributed-executor-backend ray \\
    --reasoning-parser qwen3 --enable-auto-tool-choice --tool-call-parser hermes'
"""


def as_operators_have_it(evidence: Evidence) -> None:
    """An older release that is started with a file of variables, by a short way to Ray; weights in two layouts."""
    older_engine(evidence)
    set_for(evidence, HEAD, LOGIN, "RAY_ADDRESS=localhost:6379")
    for node in (HEAD, WORKER):
        in_json(evidence, node, FOLDER, weights_again)
        in_text(evidence, node, "RDMA devices", r"(?<=^rocep1s0f1/ports/1/counters/symbol_error:)0", "N/A (no PMA)")
        evidence.change(node, "kernel log", lambda text: FIRMWARE + text)


def weights_again(answer: dict[str, Any]) -> None:
    """A file of 200 GiB beside the shards, which no index names."""
    shard = next(iter(answer["shards"].values()))
    size = 200 << 30
    answer["shards"][OTHER_LAYOUT] = {**shard, "size": size, "must_be": size, "bytes": {"BF16": size}, "unlisted": []}


def test_no_check_alarms_at_an_operators_own_ways(tmp_path: Path) -> None:
    ways = Fault(
        "ways",
        "bundle",
        "RAY-04",
        stage="ray",
        inject=as_operators_have_it,
        pair="gb10",
        declared={"launch.serve": STARTED},
    )
    observed = observe(ways, tmp_path)
    assert not observed.failed, observed.text
    assert not observed.broken, observed.text
    assert {"RAY-04", "SRV-09", "MEM-04", "NET-21", "PLT-06"} <= observed.passed


def redis_on_the_worker(evidence: Evidence) -> None:
    """Another program has the number of Ray's port, where no Ray will want it."""
    listener = 'LISTEN 0 511 127.0.0.1:6379 0.0.0.0:* users:(("redis-server",pid=911,fd=6))\n'
    evidence.change(WORKER, "ss -H -ltnp", lambda text: text + listener)


def test_rays_port_is_the_heads_alone(tmp_path: Path) -> None:
    variant = Fault("redis", "bundle", "RAY-05", stage="hosts", inject=redis_on_the_worker)
    observed = observe(variant, tmp_path)
    assert not observed.failed, observed.text
    assert "RAY-05" in observed.passed
