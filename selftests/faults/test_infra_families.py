"""The faults that the infra suite finds: every check has its proof, every signature its line."""

from __future__ import annotations

import re

import pytest
from typer import Typer
from typer.testing import CliRunner

from selftests.proofs.faults import FAULTS
from shakedown.errors import CatalogueError
from shakedown.faults.catalogue import lookup
from shakedown.faults.checks import declared_checks
from shakedown.faults.cli import explain

CHECKS = {check.id for check in declared_checks() if check.test.startswith("tests_infra/")}

LINES = {
    "RAY-01": "RuntimeError: Every node should have a unique IP address. Got 2 nodes with node ids [...]",
    "RAY-03": "ValueError: Cannot provide a placement group requiring {'GPU': 1.0} within 1800 seconds.",
    "RAY-05": "ConnectionError: Ray is trying to start at 10.0.0.1:6379, but is already running at 10.0.0.1:6379.",
    "RAY-06": "ValueError: Current node has no GPU available. current_node_resource={'CPU': 1.0}",
    "RAY-08": "Failed to connect to GCS at address 192.168.200.12:6379 within 5 seconds.",
    "RAY-11": "RuntimeError: Version mismatch: The cluster was started with:\n    Ray: 2.53.0",
    "MEM-01": "1 worker(s) were killed due to the node running low on memory.",
    "MEM-04": "ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization`",
    "NET-07": "NET/IB : Got completion with error IBV_WC_LOC_LEN_ERR",
    "NET-13": "RuntimeError: Unable to find address for: ^lo",
    "NET-14": "Gloo connectFullMesh failed with [...] remote=[127.0.0.1]:40213",
    "MOD-01": "safetensors_rust.SafetensorError: Error while deserializing header: MetadataIncompleteBuffer",
    "MOD-03": "RuntimeError: Cannot find any model weights with `/models/x`",
    "RAY-10": "The node with node id: 3f has been marked dead because the detector has missed too many heartbeats",
    "RAY-12": "/bin/sh: 1: ray: not found",
    "RAY-13": "ModuleNotFoundError: No module named 'vllm'",
    "MEM-02": "ValueError: Free memory on device cuda:0 (90.1/121.7 GiB) on startup is less than desired GPU memory "
    "utilization (0.9, 109.5 GiB). Decrease GPU memory utilization",
    "MEM-05": "(4.5 GiB KV cache is needed, which is larger than the available KV cache memory (2.0 GiB).",
    "MEM-06": "AssertionError: Error in memory profiling. Initial free memory 90 GiB, current free memory 95 GiB.",
    "MEM-07": "Out of memory: Killed process 4242 (VLLM::Worker_TP) total-vm:1kB",
    "MEM-12": "WARNING: The object store is using /tmp instead of /dev/shm because /dev/shm has only 67108864 bytes",
    "MEM-13": "NCCL WARN Call to ibv_reg_mr_iova2 failed with error Cannot allocate memory",
    "MEM-16": "Memory cgroup out of memory: Killed process 4242 (ray::RayWorker)",
    "NET-08": "NCCL WARN NET/IB : Got completion from peer 192.168.200.13<4791> with status=IBV_WC_RETRY_EXC_ERR(12)",
    "NET-11": "spark-a:1:2 [0] NCCL INFO Using network Socket",
    "NET-12": "misc/socket.cc:1 NCCL WARN Bootstrap : no socket interface found",
    "NET-16": "[c10d] The client socket has timed out after 1800000ms while trying to connect to (10.1.230.13, 1234).",
    "NET-18": "NCCL WARN Message truncated : received 172 bytes instead of 64",
    "ENV-05": "Failed to initialize NVML: Unknown Error",
    "PLT-02": "Failed to initialize NVML: Driver/library version mismatch",
    "PLT-05": "ptxas fatal   : Value 'sm_121a' is not defined for option 'gpu-name'",
    "PLT-06": "NVRM: Xid (PCI:000f:01:00): 31, pid=1, name=VLLM, Ch 00000008",
    "PLT-08": "/tmp/ray/session_1 is over 95% full, available space: 1.2 GB; capacity: 900 GB.",
    "MOD-05": "RuntimeError: Cannot find any model weights with `/models/x`",
    "MOD-06": "ValueError: Model architectures ['NewForCausalLM'] are not supported for now.",
    "SRV-03": "RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {}",
    "SRV-04": "Worker exit type: SYSTEM_ERROR Worker exit detail: Worker unexpectedly exits",
    "SRV-05": "TimeoutError: RPC call to sample_tokens timed out.",
    "SRV-07": "TimeoutError: Timed out waiting for engine core processes to start. This is often caused by slow weight",
    "SRV-01": "OSError: [Errno 98] Address already in use",
}


def test_every_check_is_proved_by_a_changed_bundle() -> None:
    assert {fault.check for fault in FAULTS if fault.mechanism == "bundle" and fault.suite == "infra"} == CHECKS


@pytest.mark.parametrize(("id", "line"), LINES.items(), ids=list(LINES))
def test_a_signature_knows_its_line(id: str, line: str) -> None:
    assert any(re.search(signature.pattern, line) for signature in lookup(id).signatures)


def test_nccls_own_port_is_no_fault() -> None:
    """NCCL's status service may not get its port 28028; that means nothing (vllm#19204)."""
    line = "NCCL WARN Call to bind failed: Address already in use, port 28028"
    assert not any(re.search(signature.pattern, line) for signature in lookup("SRV-01").signatures)


def test_explain_tells_what_to_do() -> None:
    app = Typer()
    app.command()(explain)
    text = CliRunner().invoke(app, ["mem-01"]).output
    for part in ("MEM-01", "What it looks like", "RAY_memory_monitor_refresh_ms=0 ray start", "Sources"):
        assert part in text


def test_an_unknown_id_names_its_family() -> None:
    with pytest.raises(CatalogueError, match="MEM-01"):
        lookup("MEM-99")
