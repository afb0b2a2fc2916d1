"""What nvidia-smi says of GPUs and of who computes on them, and what it says when it does not answer."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shakedown.errors import EvidenceError
from shakedown.inventory.load import load_deployment
from shakedown.nodes.evidence import Evidence
from shakedown.nodes.fetch import Reach
from shakedown.nodes.transport import Local
from shakedown.nodes.views.gpu import GpuView, parse_gpus, parse_processes, with_more
from shakedown.nodes.views.node import NodeViews
from shakedown.outcomes import Stage
from shakedown.simulator.deployment import FILE

SHARED = "NVIDIA GB10, 580.173.02, 12.1, [N/A], [N/A], P8, 208, 11.17, 0, 0\n"
IDLE = "NVIDIA H200, 580.159.04, 9.0, 143771, 143156, P0, 345, 80.45, 0, 0\n"
IDLE_MORE = "reasons 0, 0x0000000000000001\nerrors 0, 0\n"
"""As driver 580.159.04 prints both."""
OWN = "NVIDIA H200, 580.95.05, 9.0, 143771, 143160, P0, 1980, 402.50, 97, 1\n"
OWN_MORE = "reasons 0, 0x0000000000000000\nreasons 1, 0x00000000000000C8\nerrors 1, 3\n"


def test_a_gpu_that_shares_memory_has_none_of_its_own() -> None:
    (gpu,) = with_more(parse_gpus(SHARED), "reasons 0, 0x0000000000000001\nerrors 0, [N/A]\n")
    assert (gpu.memory_total, gpu.memory_free, gpu.uncorrected_ecc) == (None, None, None)
    assert (gpu.capability, gpu.pstate, gpu.sm_clock_mhz, gpu.slowdowns) == ("12.1", "P8", 208, ())


def test_a_gpu_tells_why_it_is_slow() -> None:
    other, one = with_more(parse_gpus(IDLE + OWN), OWN_MORE)
    assert one.memory_total == 143771 * 1024**2
    assert one.slowdowns == ("hardware slowdown", "hardware thermal slowdown", "power brake")
    assert (one.uncorrected_ecc, other.uncorrected_ecc) == (3, None)
    assert other.slowdowns == ()
    assert one.is_busy
    assert "97 % busy" in str(one)


def test_an_idle_gpu_is_not_slowed_down() -> None:
    (gpu,) = with_more(parse_gpus(IDLE), IDLE_MORE)
    assert not gpu.is_busy
    assert (gpu.driver, gpu.capability, gpu.slowdowns, gpu.uncorrected_ecc) == ("580.159.04", "9.0", (), 0)
    assert gpu.memory_free == 143156 * 1024**2


def test_what_a_driver_does_not_tell_is_not_known() -> None:
    (gpu,) = with_more(parse_gpus(IDLE), "")
    assert (gpu.slowdowns, gpu.uncorrected_ecc) == (None, None)


NVIDIA_SMI = """#!/bin/sh
case $1 in
    --query-gpu=name,*) echo '{idle}' ;;
    --query-gpu=index,{name}) echo '0, 0x0000000000000040' ;;
    --query-gpu=index,ecc.*) echo '0, 0' ;;
    *) printf 'Field "%s" is not a valid field to query.\\n\\n' "${{1##*,}}"; exit 2 ;;
esac
"""
"""As driver 580.159.04 answers, and refuses."""


def machine_with(program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> GpuView:
    """The view of a machine with such an nvidia-smi."""
    (tmp_path / "nvidia-smi").write_text(program)
    (tmp_path / "nvidia-smi").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    deployment = load_deployment(FILE)
    evidence = Evidence("here", Stage.HOSTS, {"node-a": Reach("node-a", Local())})
    return NodeViews(deployment, deployment.head, evidence).gpu


@pytest.mark.parametrize("name", ["clocks_event_reasons.active", "clocks_throttle_reasons.active"])
def test_reasons_are_read_under_the_name_that_the_driver_has(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (gpu,) = machine_with(NVIDIA_SMI.format(name=name, idle=IDLE.strip()), tmp_path, monkeypatch).gpus
    assert (gpu.slowdowns, gpu.uncorrected_ecc) == (("hardware thermal slowdown",), 0)


@pytest.mark.parametrize(
    ("said", "exit_code", "broken"),
    [
        ("Failed to initialize NVML: Driver/library version mismatch", 18, True),
        ("NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.", 9, True),
        ("No devices were found", 6, True),
        ("Unable to determine the device handle for GPU0000:01:00.0: GPU is lost.", 15, True),
        ('Field "pstate" is not a valid field to query.', 2, False),
        ("Killed", 137, False),
    ],
)
def test_a_question_that_is_refused_is_no_broken_driver(
    said: str, exit_code: int, broken: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gpu = machine_with(f"#!/bin/sh\necho {shlex.quote(said)}\nexit {exit_code}\n", tmp_path, monkeypatch)
    assert gpu.installed
    assert (gpu.complaint is not None) is broken
    with pytest.raises(EvidenceError, match=re.escape(said)):
        _ = gpu.gpus


def test_other_fields_than_asked_for_are_refused() -> None:
    with pytest.raises(EvidenceError, match="other fields"):
        parse_gpus("NVIDIA GB10, 580.173.02\n")


def test_processes_on_a_gpu_keep_commas_in_their_names() -> None:
    found = parse_processes("12, python3, 4096\n13, /opt/a, b/run, [N/A]\nNo running processes found\n")
    assert [(one.pid, one.name, one.memory) for one in found] == [
        (12, "python3", 4096 * 1024**2),
        (13, "/opt/a, b/run", None),
    ]


@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    parse_processes(text)
    with_more(parse_gpus(IDLE), text)
    try:
        parse_gpus(text)
    except EvidenceError:
        return
