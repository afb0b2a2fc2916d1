"""Faults that need GPUs or twin NICs, as the probes would tell them: answers put into a recorded bundle.

The healthy pair in GB10's shape was recorded at tier 0, and has no GPUs. What is put in has the form in which the
probes answer; the last words of the ranks are those of the public thread.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from ipaddress import IPv4Address

from selftests.proofs.model import Fault
from shakedown.nodes.active.action import script
from shakedown.nodes.active.rails import Rail
from shakedown.nodes.answer import Answer, Command
from shakedown.nodes.evidence import Evidence

FABRIC = {"node-a": "192.168.200.12", "node-b": "192.168.200.13"}
TWIN = {"node-a": "192.168.201.12", "node-b": "192.168.201.13"}
TWIN_NIC = "enP2p1s0f1np1"
INIT = "tcp://192.168.200.12:51234"

# https://github.com/MiaAI-Lab/Qwen3.8-Flash-Next-Dual-DGX-Sparks/issues/3
CONNECT = "proxy.cc:1716 NCCL WARN [Service thread] Error encountered progressing operation=Connect, res=3"

# The forms are those of src/transport/net_ib.cc, src/init.cc and src/transport/net.cc of NCCL 2.28; the lines about
# sockets were seen on an H200.
OOB = "OOB enp1s0f1np1:192.168.200.12<0>"
BY_RDMA = (
    f"NET/IB : Using [0]rocep1s0f1:1/RoCE [1]roceP2p1s0f1:1/RoCE [RO]; {OOB}",
    "Using network IB",
    "Channel 00/0 : 0[0] -> 1[0] [send] via NET/IB/0",
    "Channel 01/0 : 0[0] -> 1[0] [send] via NET/IB/1",
)
BY_ONE_HALF = (f"NET/IB : Using [0]rocep1s0f1:1/RoCE [RO]; {OOB}", *BY_RDMA[1:3])
BY_SOCKETS = (
    "NET/IB : No device found.",
    f"NET/IB : Using [RO]; {OOB}",
    "NET/Socket : Using [0]enp1s0f1np1:192.168.200.12<0>",
    "Using network Socket",
    "Channel 00/0 : 0[0] -> 1[0] [send] via NET/Socket/0",
)

SIZES = (8 << 10, 64 << 20, 1 << 30)

# The words of PyTorch's Gloo (gloo/transport/tcp/unbound_buffer.cc).
RECEIVE = "RuntimeError: [unbound_buffer.cc:78] Timed out waiting 30000ms for recv operation to complete"


def nccl_stands_still(evidence: Evidence) -> None:
    """Ports are open and Gloo comes together; NCCL connects its devices and does not get through."""
    _all_well(evidence)
    for number, node in enumerate(FABRIC):
        hung = {"step": "add up", "exit_code": -9, "took_s": 50.0, "tail": [f"node [{number}] {CONNECT}"]}
        _script(evidence, node, "form_group", "nccl", _group(node) | hung)


def gloo_stands_still(evidence: Evidence) -> None:
    """The ranks come together, and what is sent in full packets is lost by a switch, whose rules no node can list."""
    _all_well(evidence)
    for number, node in enumerate(FABRIC):
        hung = {"step": "add up", "exit_code": 1, "took_s": 31.0, "tail": [f"node [{number}] {RECEIVE}"]}
        _script(evidence, node, "form_group", "gloo", _group(node) | hung | {"total": None})


def twin_without_jumbo(evidence: Evidence) -> None:
    """The second half of the port was left out when the path was made ready for large packets."""
    _all_well(evidence)
    for node, own in TWIN.items():
        _twin(evidence, node, own, "2 packets transmitted, 0 received, 100% packet loss, time 204ms")


def link_in_bad_state(evidence: Evidence) -> None:
    """200 Gb/s by every file, 13 Gb/s in a measurement (dgx-spark-playbooks#108)."""
    _all_well(evidence)
    for node in FABRIC:
        _script(evidence, node, "stream_bytes", "with node-b", _received(13))


def shard_with_wrong_bytes(evidence: Evidence) -> None:
    """Right size, right header, one byte that a disk or a copy got wrong."""
    _all_well(evidence)
    _script(evidence, "node-b", "hash_shards", "", _hashes("c0ffee"))


def nccl_takes_sockets(evidence: Evidence) -> None:
    """The device files are there, and NCCL cannot use the devices on one node: it takes TCP without a warning."""
    _all_well(evidence)
    _script(evidence, "node-b", "form_group", "nccl", _group("node-b") | {"nccl": BY_SOCKETS})


def nccl_opens_one_half(evidence: Evidence) -> None:
    """No variable leaves the second half out, and NCCL does not open it: it lacks a usable address."""
    _all_well(evidence)
    _script(evidence, "node-b", "form_group", "nccl", _group("node-b") | {"nccl": BY_ONE_HALF})


def sums_at_a_tenth(evidence: Evidence) -> None:
    """3 GB/s where the pair gives 20, and every part looks well (dgx-spark-playbooks#102)."""
    _all_well(evidence)
    for node in FABRIC:
        _script(evidence, node, "form_group", "nccl timed", _timed(node, 3.0))


def _all_well(evidence: Evidence) -> None:
    for node, own in FABRIC.items():
        (peer,) = (address for address in FABRIC.values() if address != own)
        reached = {peer: dict.fromkeys(("40001", "40002"))}
        _script(evidence, node, "try_ports", "", {"taken": {}, "reached": reached})
        for backend in ("gloo", "nccl"):
            _script(evidence, node, "form_group", backend, _group(node))
        _script(evidence, node, "form_group", "nccl timed", _timed(node, 21.0))
        _script(evidence, node, "stream_bytes", "with node-b", _received(98))
        _script(evidence, node, "hash_shards", "", _hashes("5ca1ab1e"))
    for node, own in TWIN.items():
        _twin(evidence, node, own, "2 packets transmitted, 2 received, 0% packet loss, time 201ms")


def _group(node: str) -> dict[str, object]:
    sums = {"step": "done", "total": 1.0, "expected": 1.0}
    ended = {"exit_code": 0, "tail": [], "took_s": 4.2, "nccl": BY_RDMA}
    return {"address": FABRIC[node], "init": INIT, **ended, **sums}


def _timed(node: str, gbytes_per_s: float) -> dict[str, object]:
    """Sums of two ranks, each of which takes 40 microseconds beside the time of its bytes."""
    return _group(node) | {"timed": {size: 40e-6 + size / gbytes_per_s / 1e9 for size in SIZES}}


def _received(gbps: float) -> dict[str, object]:
    return {"bytes": int(gbps * 1e9 / 8 * 5), "seconds": 5.0}


def _hashes(of_seventh: str) -> dict[str, object]:
    shards = {f"model-{number:05}-of-00039.safetensors": f"{number:064x}" for number in range(1, 40)}
    return {"digests": shards | {"model-00007-of-00039.safetensors": of_seventh}, "bytes": 119 << 30, "seconds": 40.0}


def _script(evidence: Evidence, node: str, name: str, variant: str, said: Mapping[str, object]) -> None:
    _answer(evidence, node, script(name, "python3", limit_s=1, variant=variant), json.dumps(said))


def _twin(evidence: Evidence, node: str, own: str, counted: str) -> None:
    (peer,) = (address for address in TWIN.values() if address != own)
    text = f"PING {peer} ({peer}) from {own} {TWIN_NIC}: 8972(9000) bytes of data.\n\n--- statistics ---\n{counted}\n"
    _answer(evidence, node, Rail(node, "", TWIN_NIC, 9000, IPv4Address(peer)).command, text)


def _answer(evidence: Evidence, node: str, command: Command, said: str) -> None:
    taken = evidence.answers(node)[0]
    evidence.record(
        node,
        Answer(
            key=command.key,
            place=command.place,
            exit_code=0,
            stdout=said.encode(),
            stderr=b"",
            started=taken.started,
            duration_s=taken.duration_s,
            asked=taken.asked,
            answered=taken.answered,
        ),
    )


def _shown(name: str, check: str, inject: Callable[[Evidence], None], tier: int = 1) -> Fault:
    return Fault(name, "bundle", check, stage="hosts", inject=inject, options=("--tier", str(tier)), pair="gb10")


FAULTS: tuple[Fault, ...] = (
    _shown("bundle-gloo-stands-still", "NET-16", gloo_stands_still),
    _shown("bundle-nccl-stands-still", "NET-17", nccl_stands_still),
    _shown("bundle-nccl-takes-sockets", "NET-11", nccl_takes_sockets),
    _shown("bundle-nccl-opens-one-half", "NET-03", nccl_opens_one_half),
    _shown("bundle-sums-at-a-tenth", "NET-02", sums_at_a_tenth, tier=2),
    _shown("bundle-twin-without-jumbo", "NET-07", twin_without_jumbo),
    _shown("bundle-link-in-bad-state", "NET-02", link_in_bad_state, tier=2),
    _shown("bundle-shard-with-wrong-bytes", "MOD-02", shard_with_wrong_bytes, tier=2),
)
