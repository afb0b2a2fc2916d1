"""Faults that need GPUs or twin NICs, as the probes would tell them: answers put into a recorded bundle.

The healthy pair in GB10's shape was recorded at tier 0, and has no GPUs. What is put in has the form in which the
probes answer; the last words of the ranks are those of the public thread.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from ipaddress import IPv4Address

from selftests.proofs.model import Fault
from shakedown.nodes.active.action import script
from shakedown.nodes.active.rails import Rail
from shakedown.nodes.answer import Answer, Command
from shakedown.nodes.evidence import Evidence

FABRIC = {"node-a": "192.168.200.12", "node-b": "192.168.200.13"}
TWIN = {"node-a": "192.168.201.12", "node-b": "192.168.201.13"}
NIC = "enp1s0f1np1"
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
        _script(evidence, node, "stream_bytes", f"with node-b by {TWIN_NIC}", _received(13))


def packets_are_lost(evidence: Evidence) -> None:
    """A plug that is not quite in: TCP makes up for what is lost, at four fifths of the speed."""
    _all_well(evidence)
    _script(evidence, "node-a", "stream_bytes", f"with node-b by {NIC}", _received(80) | {"sent_again": 340_000})


def device_in_bad_state(evidence: Evidence) -> None:
    """TCP by both NICs is well, and one RDMA device gives 13 Gb/s until its power is cut (the same thread)."""
    _all_well(evidence)
    _written(evidence, "node-b", {"roceP2p1s0f1": 13.02})


def sequence_errors_under_load(evidence: Evidence) -> None:
    """RoCE loses packets, and its counters tell only while it is loaded."""
    _all_well(evidence)
    _counted(evidence, "node-b", "rocep1s0f1/ports/1/hw_counters/packet_seq_err", "2210")


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


def disk_slower_than_the_front_ends(evidence: Evidence) -> None:
    """A disk of one node gives 130 MB/s, as one over a busy network does: longer than was predicted."""
    _all_well(evidence)
    _script(evidence, "node-b", "hash_shards", "", _hashes("5ca1ab1e") | {"seconds": 940.0})


def gpu_slow_under_load(evidence: Evidence) -> None:
    """Idle, all is well; busy, the clocks stay where a bad power supply holds them (spark-gpu-throttle-check)."""
    _all_well(evidence)
    _script(evidence, "node-b", "load_gpus", "", _clocked("611, 14.20, 48, 0x0000000000000000"))


def gpu_brakes_under_load(evidence: Evidence) -> None:
    """The air inlets are covered: after some seconds the driver takes clocks away, which are not low yet."""
    _all_well(evidence)
    _script(evidence, "node-b", "load_gpus", "", _clocked("1820, 61.00, 93, 0x0000000000000020"))


def _all_well(evidence: Evidence) -> None:
    for node, own in FABRIC.items():
        (peer,) = (address for address in FABRIC.values() if address != own)
        reached = {peer: dict.fromkeys(("40001", "40002"))}
        _script(evidence, node, "try_ports", "", {"taken": {}, "reached": reached})
        for backend in ("gloo", "nccl"):
            _script(evidence, node, "form_group", backend, _group(node))
        _script(evidence, node, "form_group", "nccl timed", _timed(node, 21.0))
        for nic in (NIC, TWIN_NIC):
            _script(evidence, node, "stream_bytes", f"with node-b by {nic}", _received(98))
        _counted(evidence, node)
        _written(evidence, node)
        _script(evidence, node, "hash_shards", "", _hashes("5ca1ab1e"))
        _script(evidence, node, "load_gpus", "", _clocked("2411, 74.20, 66, 0x0000000000000000"))
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
    return {"bytes": int(gbps * 1e9 / 8 * 5), "seconds": 5.0, "sent": 6_800_000, "sent_again": 12}


def _counted(evidence: Evidence, node: str, file: str = "", count: str = "") -> None:
    """The counters after the load: as they were, but for one."""
    for key in ("adapters in /sys/class/net", "RDMA devices in /sys/class/infiniband"):
        (before,) = (answer for answer in evidence.answers(node) if answer.key == key)
        said = re.sub(rf"(?<=^{file}:)\d+", count, before.text, flags=re.MULTILINE) if file else before.text
        _answer(evidence, node, Command("", key=f"act {key} after the load"), said)


def _written(evidence: Evidence, node: str, gbps: Mapping[str, float] = {}) -> None:
    """The end of ``ib_write_bw -D 5 --report_gbits``, as perftest prints it."""
    (peer,) = (name for name in FABRIC if name != node)
    for hca in ("rocep1s0f1", "roceP2p1s0f1"):
        row = f" 65536      842300           0.00               {gbps.get(hca, 96.4):.2f}                0.184"
        said = f" #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]\n{row}\n"
        _answer(evidence, node, Command("", key=f"act ib_write_bw to {peer} by {hca}"), said)
        _answer(evidence, node, Command("", key=f"act ib_write_bw from {peer} by {hca}"), said)


def _clocked(last: str) -> dict[str, object]:
    """What `load_gpus` printed on an H200, with the last fields of a GB10."""
    samples = [{"at": at / 2 + 0.5, "gpus": [f"0, 98, {last}"]} for at in range(23)]
    return {"problems": [], "samples": samples, "tflops": [92.1]}


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


SEVERAL_SERVERS = """\
docker exec -d -e NCCL_IB_HCA=rocep1s0f1,roceP2p1s0f1 -e VLLM_ENGINE_READY_TIMEOUT_S=900 vllm sh -c '
  vllm serve /run/shakedown/model --served-model-name shakedown-tiny --port 30000 --max-model-len 4096 \
    --gpu-memory-utilization 0.80 --tensor-parallel-size 2 --distributed-executor-backend ray --api-server-count 4 \
    --reasoning-parser qwen3 --enable-auto-tool-choice --tool-call-parser hermes'
"""
"""Which by the prediction of 702 s is patient enough."""

FAULTS: tuple[Fault, ...] = (
    _shown("bundle-gloo-stands-still", "NET-16", gloo_stands_still),
    _shown("bundle-nccl-stands-still", "NET-17", nccl_stands_still),
    _shown("bundle-nccl-takes-sockets", "NET-11", nccl_takes_sockets),
    _shown("bundle-nccl-opens-one-half", "NET-03", nccl_opens_one_half),
    _shown("bundle-sums-at-a-tenth", "NET-02", sums_at_a_tenth, tier=2),
    _shown("bundle-twin-without-jumbo", "NET-07", twin_without_jumbo),
    _shown("bundle-link-in-bad-state", "NET-02", link_in_bad_state, tier=2),
    _shown("bundle-packets-are-lost", "NET-21", packets_are_lost, tier=2),
    _shown("bundle-device-in-bad-state", "NET-02", device_in_bad_state, tier=2),
    _shown("bundle-sequence-errors-under-load", "NET-21", sequence_errors_under_load, tier=2),
    replace(
        _shown("bundle-disk-slower-than-the-front-ends", "SRV-07", disk_slower_than_the_front_ends, tier=2),
        declared={"launch.serve": SEVERAL_SERVERS},
    ),
    _shown("bundle-gpu-slow-under-load", "PLT-04", gpu_slow_under_load, tier=2),
    _shown("bundle-gpu-brakes-under-load", "PLT-04", gpu_brakes_under_load, tier=2),
    _shown("bundle-shard-with-wrong-bytes", "MOD-02", shard_with_wrong_bytes, tier=2),
)
