"""Every signature knows its line, the word it is sifted by is in every such line, and noise is passed over."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from selftests.faults.samples import SAMPLES
from shakedown.faults.catalogue import known_faults, lookup
from shakedown.faults.checks import ROOT
from shakedown.faults.lines import LogLine
from shakedown.faults.sieve import sieve
from shakedown.faults.signature import Signature
from shakedown.faults.signatures import is_noise, match, may_mean_something, noise, words
from shakedown.launch.events import Stream

LOGS = ("serve log", "raylet.out", "gcs_server.out", "Ray worker logs", "kernel log", "container")
SILENT = {"SRV-02", "SRV-06"}
"""Watched faults that no line shows: a bar that stands still, an answer that is wrong."""


def line(stream: str, text: str) -> LogLine:
    return LogLine(node="node-a", stream=stream, source="a file", at=0.0, text=text)


@pytest.mark.parametrize(("id", "stream", "text"), SAMPLES, ids=[f"{id}-{n}" for n, (id, _, _) in enumerate(SAMPLES)])
def test_a_line_is_known_for_its_fault(id: str, stream: str, text: str) -> None:
    found = match(line(stream, text))
    assert found is not None
    assert found.entry.id == id
    assert found.signature.literal in text
    assert not is_noise(text)
    assert "{" not in found.said.replace(text, "") or "{" in "".join(found.details.values())


def test_every_signature_has_a_line() -> None:
    proved = {found.signature for _, stream, text in SAMPLES if (found := match(line(stream, text)))}
    declared = {signature for entry in known_faults() for signature in entry.signatures}
    assert [signature.pattern for signature in declared - proved] == []


def test_every_watched_fault_has_a_signature() -> None:
    assert {entry.id for entry in known_faults() if entry.status == "watched" and not entry.signatures} == SILENT


def test_logs_are_named_as_the_streams_name_them() -> None:
    named = {stream for entry in known_faults() for signature in entry.signatures for stream in signature.streams}
    assert named <= {*Stream}
    assert {*LOGS} <= {*Stream}


@pytest.mark.parametrize("text", [sample for known in noise() for sample in known.samples])
@pytest.mark.parametrize("stream", LOGS)
def test_noise_is_no_evidence_in_any_log(text: str, stream: str) -> None:
    assert is_noise(text)
    assert match(line(stream, text)) is None


def test_noise_has_a_public_source() -> None:
    assert all(known.source.startswith("https://") for known in noise())


HEALTHY = sorted((ROOT / "selftests").glob("*/logs/*.txt"))


@pytest.mark.parametrize("file", HEALTHY, ids=lambda file: file.name)
def test_healthy_launches_have_no_sign_of_a_failure(file: Path) -> None:
    for text in file.read_text(encoding="utf-8").splitlines():
        found = match(line("serve log", text))
        assert found is None or found.signature.kind == "hint", text


def test_a_line_is_believed_only_in_its_log() -> None:
    text = "Out of memory: Killed process 4242 (VLLM::Worker_TP) total-vm:1kB"
    assert match(line("kernel log", text)) is not None
    assert match(line("serve log", text)) is None  # somebody quotes it


def test_a_driver_that_ends_is_no_worker_that_died() -> None:
    """`ray status`, or any script that asks the cluster and is killed, ends like this on a cluster that is well."""
    text = (
        "[2026-12-01 12:25:24,684 W 26 26] (gcs_server) gcs_worker_manager.cc:70: Reporting worker exit, worker id = "
        f"02000000{'f' * 48}, node id = {'a' * 56}, address = 192.168.200.12, exit_type = SYSTEM_ERROR, exit_detail = "
        "Worker unexpectedly exits with a connection error code 2. End of file."
    )
    assert match(line("gcs_server.out", text)) is None


def test_nccls_own_port_is_no_fault() -> None:
    assert (
        match(
            line(
                "serve log", "x:1:1 [0] ras/client_support.cc:160 NCCL WARN Call to bind failed: Address already in use"
            )
        )
        is None
    )
    assert (
        match(
            line(
                "serve log", "x:1:1 [0] NCCL INFO RAS failed to establish a client listening socket at localhost:28028"
            )
        )
        is None
    )


def test_one_address_for_all_nodes_is_told_from_too_many() -> None:
    both = "Every node should have a unique IP address. Got 2 nodes with node ids [] and {} unique IP addresses {{'a'}}"
    found = [match(line("serve log", both.format(count))) for count in (1, 3)]
    assert [known.entry.id for known in found if known] == ["RAY-02", "RAY-01"]


@pytest.mark.parametrize(
    ("id", "parts"),
    {
        "MEM-05": ("29120", "--max-model-len 29120", "65536", "4.50 GiB", "2.00 GiB"),
        "MEM-01": ("113.76GB", "119.70GB", "192.168.200.13"),
        "RAY-03": ("2.0 GPUs",),
        "NET-16": ("10.1.230.13", "37907"),
        "SRV-01": ("8000",),
    }.items(),
)
def test_a_line_tells_its_details(id: str, parts: tuple[str, ...]) -> None:
    told = [found.said for of, stream, text in SAMPLES if of == id and (found := match(line(stream, text)))]
    assert any(all(part in said for part in parts) for said in told), told


def test_what_is_missing_for_the_placement_group_is_told() -> None:
    told = [found.said for id, stream, text in SAMPLES if id == "RAY-03" and (found := match(line(stream, text)))]
    assert "No node has {'GPU': 1.0, 'node:192.168.200.12': 0.001}." in told
    assert any("node:192.168.200.12': 0.001" in said and said.startswith("After 30 s") for said in told)


def test_a_log_can_be_sifted_by_the_words() -> None:
    """What `grep -F` of the words lets through is all that means anything."""
    assert [text for _, _, text in SAMPLES if not any(word in text for word in words())] == []
    assert not any("\n" in word or not word.strip() for word in words())
    assert min(map(len, words())) > 5  # nothing that every line has


def test_the_sieve_loses_no_phrase() -> None:
    assert all(may_mean_something(text) for _, _, text in SAMPLES)
    few = sieve(["Error while reading", "EADDRINUSE", "a b"])
    assert [few(text) for text in ("x: Error while reading y", "(EADDRINUSE)", "a b", "nothing of that", "")] == [
        *(True, True, True),
        *(False, False),
    ]


@pytest.mark.parametrize(
    "declared",
    [
        {"pattern": "a.b", "kind": "root"},
        {"pattern": "a.b", "kind": "root", "word": "c"},
        {"pattern": "abc", "kind": "root", "says": "{missing}"},
        {"pattern": "abc", "kind": "cause"},
    ],
    ids=["no literal", "word not in the pattern", "no such group", "no such kind"],
)
def test_a_signature_that_cannot_work_is_refused(declared: dict[str, str]) -> None:
    with pytest.raises(ValidationError):
        Signature.model_validate(declared)


def test_kinds_that_are_no_proof_of_a_failure() -> None:
    """Healthy launches have such lines: the kernel kills a browser, NCCL takes TCP, a worker joins late."""
    for id, pattern in (
        ("MEM-07", "firefox"),
        ("PLT-06", "Xid"),
        ("NET-11", "Socket"),
        ("RAY-03", "Waiting"),
        ("RAY-08", " W 314"),
    ):
        text = next(text for of, _, text in SAMPLES if of == id and pattern in text)
        kinds = {found.signature.kind for log in LOGS if (found := match(line(log, text)))}
        assert kinds <= {"suspect", "hint"}, id
    assert lookup("MEM-07").signatures
