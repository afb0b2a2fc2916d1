"""The faults that the infra suite finds: every entry has its check, every check its proof, every signature its line."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from typer import Typer
from typer.testing import CliRunner

from selftests.proofs import bundle
from shakedown.errors import CatalogueError
from shakedown.faults.catalogue import catalogue, lookup
from shakedown.faults.cli import explain

ROOT = Path(__file__).resolve().parents[2]
CHECKED = re.compile(r'@pytest\.mark\.check\(\s*"([A-Z]+-\d+)"')
CHECKS = {id for file in (ROOT / "tests_infra").glob("test_*.py") for id in CHECKED.findall(file.read_text())}
FAMILIES = {"RAY", "MEM", "NET", "ENV", "PLT", "MOD", "SRV"}

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
    "SRV-01": "OSError: [Errno 98] Address already in use",
}


def test_every_fault_of_the_infra_families_has_a_check() -> None:
    entries = {id for id in catalogue() if id.split("-")[0] in FAMILIES}
    assert {id for id in entries if lookup(id).status in ("checked", "predicted")} <= CHECKS


def test_every_check_is_proved_by_a_changed_bundle() -> None:
    assert {fault.check for fault in bundle.FAULTS} == CHECKS


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
