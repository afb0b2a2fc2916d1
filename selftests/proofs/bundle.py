"""Faults as a recorded bundle shows them: one answer, or the few that would change together, of a healthy pair edited.

Each fault says which public defect it repeats. The order is that of the catalogue.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from selftests.proofs.model import Fault
from shakedown.nodes.evidence import Evidence

HEAD, WORKER = "node-a", "node-b"
WORKER_ADDRESS, HEAD_ADDRESS = "192.168.200.13", "192.168.200.12"
WORKER_MANAGEMENT = "198.18.0.13"

RAYLET = "raylet: "
TABLES = "python ray_cluster/"
FOLDER = "python model_files/"
SHARD = "model-00007-of-00039.safetensors"
MONITOR_ON = (
    r"ThresholdMemoryMonitor initialized with usage threshold at 24012685312 bytes (95.000008% of system memory), "
    r"total system memory bytes: 25276510208, monitor interval: 250ms"
)

Edit = Callable[[Any], object]


def in_json(evidence: Evidence, node: str, key: str, edit: Edit) -> None:
    """Change a JSON answer in place."""

    def edited(text: str) -> str:
        value = json.loads(text)
        edit(value)
        return json.dumps(value)

    evidence.change(node, key, edited)


def in_text(evidence: Evidence, node: str, key: str, pattern: str, replacement: str) -> None:
    """Change a text answer; the pattern must be there."""
    evidence.change(node, key, lambda text: re.sub(pattern, replacement, text, flags=re.MULTILINE))


def fabric_nic(evidence: Evidence, node: str, **facts: object) -> None:
    """Change what the kernel says of a node's fabric NIC."""

    def edit(links: list[dict[str, Any]]) -> None:
        next(link for link in links if link.get("ifname") == "fab0").update(facts)

    in_json(evidence, node, "ip -j addr", edit)


def worker_row(evidence: Evidence, edit: Edit) -> None:
    """Change the worker's row in the tables of the GCS."""

    def edited(answer: dict[str, Any]) -> None:
        edit(next(row for row in answer["tables"]["nodes"] if row["address"] == WORKER_ADDRESS))

    in_json(evidence, HEAD, TABLES, edited)


def link_down(evidence: Evidence) -> None:
    """The cable is out: NVIDIA's set-up script looks for just this before anything else."""
    fabric_nic(evidence, WORKER, flags=["NO-CARRIER", "BROADCAST", "MULTICAST", "UP"], operstate="DOWN")


def link_slow(evidence: Evidence) -> None:
    """The ends agreed on a lower speed."""
    evidence.change(WORKER, "cat /sys/class/net/fab0/speed", lambda _: "1000\n")


def address_lost(evidence: Evidence) -> None:
    """An address given by hand went with the reboot."""
    fabric_nic(evidence, WORKER, addr_info=[])


def no_echo(evidence: Evidence) -> None:
    """A firewall on the worker drops what comes from the head."""
    _lose(evidence, HEAD, "ping -n -c 2 -i 0.2 -W 1 -I")
    _lose(evidence, HEAD, "ping -n -c 2 -i 0.2 -W 1 -M do")


def _lose(evidence: Evidence, node: str, key: str) -> None:
    def edited(text: str) -> str:
        first = text.splitlines()[0]
        return f"{first}\n\n--- statistics ---\n2 packets transmitted, 0 received, 100% packet loss, time 201ms\n\n"

    evidence.change(node, key, edited, exit_code=1)


def duplicate_address(evidence: Evidence) -> None:
    """A third machine answers for the worker's address, and was faster."""
    in_text(evidence, HEAD, "ip -j neigh", r'"lladdr":"[^"]*"', '"lladdr":"02:00:5e:00:53:07"')


def mtu_differs(evidence: Evidence) -> None:
    """Jumbo frames on the head only, so that what it sends in full never arrives (nccl#1524)."""
    fabric_nic(evidence, HEAD, mtu=9000)
    in_text(evidence, HEAD, "ping -n -c 2 -i 0.2 -W 1 -M do", r"1472\(1500\)", "8972(9000)")
    _lose(evidence, HEAD, "ping -n -c 2 -i 0.2 -W 1 -M do")


def switch_without_jumbo(evidence: Evidence) -> None:
    """Both NICs agree and what is between them does not carry it (dgx-spark-playbooks#25)."""
    for node in (HEAD, WORKER):
        fabric_nic(evidence, node, mtu=9000)
        in_text(evidence, node, "ping -n -c 2 -i 0.2 -W 1 -M do", r"1472\(1500\)", "8972(9000)")
        _lose(evidence, node, "ping -n -c 2 -i 0.2 -W 1 -M do")


def mtu_small(evidence: Evidence) -> None:
    """Both NICs were left at less than the profile asks for: it works and is slow (dgx-spark-playbooks#103)."""
    for node in (HEAD, WORKER):
        fabric_nic(evidence, node, mtu=1024)
        in_text(evidence, node, "ping -n -c 2 -i 0.2 -W 1 -M do", r"1472\(1500\)", "996(1024)")


def gloo_excludes(evidence: Evidence) -> None:
    """NCCL's syntax given to Gloo (aws-do-eks#51)."""
    in_text(evidence, WORKER, RAYLET, r"^env GLOO_SOCKET_IFNAME=.*", "env GLOO_SOCKET_IFNAME=^lo,docker")


def gloo_list_with_management(evidence: Evidence) -> None:
    """A list, which PyTorch takes, of which one NIC is not of the fabric."""
    in_text(evidence, WORKER, RAYLET, r"^env GLOO_SOCKET_IFNAME=.*", "env GLOO_SOCKET_IFNAME=fab0,lo")


def name_unresolved(evidence: Evidence) -> None:
    """The machine's name is in no table, so PyTorch falls back to loopback, and nothing tells Gloo otherwise."""
    for node in (HEAD, WORKER):
        in_text(evidence, node, RAYLET, r"^env GLOO_SOCKET_IFNAME=.*\n", "")
    evidence.change(WORKER, "getent", lambda _: "", exit_code=2)


def gloo_on_loopback(evidence: Evidence) -> None:
    """The installer mapped the machine's name to 127.0.1.1, and nothing tells Gloo otherwise (aws-do-eks#69)."""
    for node in (HEAD, WORKER):
        in_text(evidence, node, RAYLET, r"^env GLOO_SOCKET_IFNAME=.*\n", "")
    in_text(evidence, WORKER, "getent", r"^\S+", "127.0.1.1")


def default_route_by_wifi(evidence: Evidence) -> None:
    """The default route leaves by a Wi-Fi that nobody declared (spark-arena/sparkrun#219)."""
    in_text(
        evidence,
        WORKER,
        "ip -j -4 route get 8.8.8.8",
        r'"dev":"[^"]*","prefsrc":"[^"]*"',
        '"dev":"wlP9s9","prefsrc":"10.42.0.7"',
    )


def ray_on_management(evidence: Evidence) -> None:
    """The worker joined under what it found by itself (vllm#43095); what the embedded deployment shows for real."""
    in_text(evidence, WORKER, RAYLET, r"^arg --node_ip_address=.*", f"arg --node_ip_address={WORKER_MANAGEMENT}")
    worker_row(evidence, lambda row: row.update(address=WORKER_MANAGEMENT))


def second_row(evidence: Evidence) -> None:
    """Ray was started on the worker without an address, then again with one; the GCS has not missed the first yet."""

    def add(answer: dict[str, Any]) -> None:
        rows = answer["tables"]["nodes"]
        row = next(row for row in rows if row["address"] == WORKER_ADDRESS)
        rows.append({**row, "id": "c0ffee" + row["id"][6:], "address": WORKER_MANAGEMENT})

    in_json(evidence, HEAD, TABLES, add)


def host_ip_missing(evidence: Evidence) -> None:
    """Set on the head only: the launch hangs without a word."""
    in_text(evidence, WORKER, RAYLET, r"^env VLLM_HOST_IP=.*\n", "")


def host_ip_copied(evidence: Evidence) -> None:
    """One environment file for both nodes (vllm#13521)."""
    in_text(evidence, WORKER, RAYLET, r"^env VLLM_HOST_IP=.*", f"env VLLM_HOST_IP={HEAD_ADDRESS}")


def host_ip_in_login(evidence: Evidence) -> None:
    """The same file, read at login and seen before anything is started."""
    evidence.change(WORKER, "env |", lambda text: f"{text}VLLM_HOST_IP={HEAD_ADDRESS}\n")


def worker_not_joined(evidence: Evidence) -> None:
    """Nobody started Ray on the worker, or it gave up before the head was there (ray#59778)."""

    def without(answer: dict[str, Any]) -> None:
        tables = answer["tables"]
        tables["nodes"] = [row for row in tables["nodes"] if row["address"] != WORKER_ADDRESS]

    in_json(evidence, HEAD, TABLES, without)
    evidence.change(WORKER, RAYLET, lambda _: "")
    evidence.change(WORKER, "processes named raylet", lambda _: "")


def ray_left_over(evidence: Evidence) -> None:
    """The head of an earlier cluster still holds the port (ray#27021)."""
    evidence.change(HEAD, "processes named raylet", lambda _: "1203 gcs_server\n1287 raylet\n")
    listener = 'LISTEN 0 4096 *:6379 *:* users:(("gcs_server",pid=1203,fd=10))\n'
    evidence.change(HEAD, "ss -H -ltnp", lambda text: text + listener)


def accelerator_held(evidence: Evidence) -> None:
    """A dead job's placement group keeps the worker's accelerator (gpustack#2077)."""
    worker_row(evidence, lambda row: row["available"].pop("GPU"))
    group = {"id": "5f7a31c0d2", "state": "CREATED", "bundles": [{"GPU": 1.0}]}
    in_json(evidence, HEAD, TABLES, lambda answer: answer["tables"]["groups"].append(group))


def accelerator_not_offered(evidence: Evidence) -> None:
    """Ray was started where it saw no GPU, as in a container without access to it."""
    worker_row(evidence, lambda row: row["available"].pop("GPU"))
    worker_row(evidence, lambda row: row["resources"].pop("GPU"))


def second_placement_group(evidence: Evidence) -> None:
    """Another job came into the cluster while the model is served."""
    group = {"id": "5f7a31c0d2", "state": "CREATED", "bundles": [{"CPU": 1.0}]}
    in_json(evidence, HEAD, TABLES, lambda answer: answer["tables"]["groups"].append(group))


def dead_row(evidence: Evidence) -> None:
    """The worker died and came back: its earlier life is still in the table (ray#45179)."""

    def add(answer: dict[str, Any]) -> None:
        rows = answer["tables"]["nodes"]
        former = next(row for row in rows if row["address"] == WORKER_ADDRESS)
        why = "health check failed due to missing too many heartbeats"
        rows.append({**former, "id": "c0ffee" + former["id"][6:], "alive": False, "death": why})

    in_json(evidence, HEAD, TABLES, add)


def earlier_session(evidence: Evidence) -> None:
    """The head was started again and the worker was not (aws-do-eks#69)."""
    earlier = "arg --session-name=session_2026-01-02_03-04-05_000001_7"
    in_text(evidence, WORKER, RAYLET, r"^arg --session-name=.*", earlier)


def gcs_refused(evidence: Evidence) -> None:
    """A firewall rejects what goes to the head's port (vllm#15385)."""
    answer = {"declared": {"reachable": False, "error": "[Errno 113] No route to host"}}
    evidence.change(WORKER, TABLES, lambda _: json.dumps(answer))


def ray_older_on_worker(evidence: Evidence) -> None:
    """The same tag, another image (ray#20166)."""
    in_json(evidence, WORKER, "python versions/", lambda found: found.update(ray="2.53.0"))


def monitor_on_worker(evidence: Evidence) -> None:
    """The variable was set on the head only (ray#39723)."""
    in_text(evidence, WORKER, RAYLET, r"^env RAY_memory_monitor_refresh_ms=.*\n", "")
    in_text(evidence, WORKER, RAYLET, r"ThresholdMemoryMonitor disabled.*", MONITOR_ON)


def monitor_disagrees(evidence: Evidence) -> None:
    """The environment says off, the raylet says on: something else than the environment set it."""
    in_text(evidence, WORKER, RAYLET, r"ThresholdMemoryMonitor disabled.*", MONITOR_ON)


def memory_taken(evidence: Evidence) -> None:
    """Another tenant holds almost all memory."""
    in_text(evidence, WORKER, "cat /proc/meminfo", r"^MemAvailable:.*", "MemAvailable:     917504 kB")
    in_text(evidence, WORKER, "cat /proc/meminfo", r"^AnonPages:.*", "AnonPages:     22000000 kB")


def shard_cut(evidence: Evidence) -> None:
    """A copy that was interrupted (airllm#137)."""
    in_json(evidence, WORKER, FOLDER, lambda answer: answer["shards"][SHARD].update(size=131072))


def shard_missing(evidence: Evidence) -> None:
    """A file that never came."""
    in_json(evidence, WORKER, FOLDER, lambda answer: answer["shards"].pop(SHARD))


def folder_missing(evidence: Evidence) -> None:
    """The worker has the model at another path (vllm#23684)."""
    evidence.change(WORKER, FOLDER, lambda _: '{"folder": false}')


def other_revision(evidence: Evidence) -> None:
    """Two revisions of one model."""
    in_json(evidence, WORKER, FOLDER, lambda answer: answer["small"].update({"config.json": "0" * 64}))


def port_taken(evidence: Evidence) -> None:
    """An earlier server was not ended (vllm#7514)."""
    listener = 'LISTEN 0 2048 0.0.0.0:30000 0.0.0.0:* users:(("python",pid=911,fd=21))\n'
    evidence.change(HEAD, "ss -H -ltnp", lambda text: text + listener)


def clock_behind(seconds: float) -> Callable[[Evidence], None]:
    """Time synchronisation is off on the worker."""

    def inject(evidence: Evidence) -> None:
        evidence.change(WORKER, "date +%s.%N", lambda text: f"{float(text) - seconds:.9f}\n")

    return inject


def _fault(name: str, check: str, stage: str, inject: Callable[[Evidence], None], **companions: str) -> Fault:
    return Fault(
        f"bundle-{name}",
        "bundle",
        check,
        companions={id.replace("_", "-"): reason for id, reason in companions.items()},
        stage=stage,
        inject=inject,
    )


FAULTS: tuple[Fault, ...] = (
    _fault("link-down", "NET-01", "hosts", link_down),
    _fault("link-slow", "NET-01", "hosts", link_slow),
    _fault("address-lost", "NET-05", "hosts", address_lost),
    _fault("no-echo", "NET-06", "hosts", no_echo),
    _fault("duplicate-address", "NET-06", "ray", duplicate_address),
    _fault("mtu-differs", "NET-07", "hosts", mtu_differs),
    _fault("switch-without-jumbo", "NET-07", "ray", switch_without_jumbo),
    _fault("mtu-small", "NET-07", "ray", mtu_small),
    _fault("gloo-excludes", "NET-13", "ray", gloo_excludes),
    _fault("gloo-list-with-management", "NET-13", "ray", gloo_list_with_management),
    _fault("gloo-on-loopback", "NET-14", "ray", gloo_on_loopback),
    _fault("name-unresolved", "NET-14", "ray", name_unresolved),
    _fault("default-route-by-wifi", "NET-15", "hosts", default_route_by_wifi),
    _fault("ray-on-management", "RAY-01", "ray", ray_on_management),
    _fault("second-row", "RAY-01", "ray", second_row, RAY_07="the earlier life of the node is one row too many"),
    _fault("host-ip-missing", "RAY-02", "ray", host_ip_missing),
    _fault("host-ip-copied", "RAY-02", "serving", host_ip_copied),
    _fault("host-ip-in-login", "RAY-02", "hosts", host_ip_in_login),
    _fault("worker-not-joined", "RAY-03", "ray", worker_not_joined),
    _fault("ray-left-over", "RAY-05", "hosts", ray_left_over),
    _fault("accelerator-held", "RAY-06", "ray", accelerator_held),
    _fault("accelerator-not-offered", "RAY-06", "ray", accelerator_not_offered),
    _fault("second-placement-group", "RAY-06", "serving", second_placement_group),
    _fault("dead-row", "RAY-07", "ray", dead_row),
    _fault("dead-row-while-serving", "RAY-07", "serving", dead_row),
    _fault("earlier-session", "RAY-07", "ray", earlier_session),
    _fault("gcs-refused", "RAY-08", "ray", gcs_refused),
    _fault("ray-older-on-worker", "RAY-11", "hosts", ray_older_on_worker),
    _fault("monitor-on-worker", "MEM-01", "ray", monitor_on_worker),
    _fault("monitor-disagrees", "MEM-01", "serving", monitor_disagrees),
    _fault("memory-taken", "MEM-02", "ray", memory_taken),
    _fault("shard-cut", "MOD-01", "hosts", shard_cut),
    _fault("shard-missing", "MOD-01", "hosts", shard_missing),
    _fault("folder-missing", "MOD-03", "hosts", folder_missing),
    _fault("other-revision", "MOD-03", "ray", other_revision),
    _fault("port-taken", "SRV-01", "hosts", port_taken),
    _fault("port-shared", "SRV-01", "serving", port_taken),
    _fault("clock-behind", "PLT-07", "hosts", clock_behind(3)),
    _fault("clock-far-behind", "PLT-07", "hosts", clock_behind(8)),
)
