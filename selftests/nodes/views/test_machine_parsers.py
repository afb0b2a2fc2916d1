"""Parsers of what a machine says about its GPUs, its kernel, its disks, and the limits of its processes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shakedown.errors import EvidenceError
from shakedown.nodes.views.disks import parse_df
from shakedown.nodes.views.gpu import parse_gpus, parse_processes
from shakedown.nodes.views.kernel import XID, newest, parse_facts
from shakedown.nodes.views.limits import parse_cgroup, parse_locked, parse_shm
from shakedown.nodes.views.memory import Swap, parse_swaps
from shakedown.nodes.views.memory import parse_processes as parse_largest

SHARED = "NVIDIA GB10, 580.173.02, 12.1, [N/A], [N/A], P8, 208, 11.17, 0, 0x0000000000000001, [N/A]\n"
IDLE = "NVIDIA H200, 580.159.04, 9.0, 143771, 143156, P0, 345, 80.99, 0, 0x0000000000000001, 0\n"
"""As driver 580.159.04 prints it."""
OWN = "NVIDIA H200, 580.95.05, 9.0, 143771, 143160, P0, 1980, 402.50, 97, 0x00000000000000C8, 0\n"


def test_a_gpu_that_shares_memory_has_none_of_its_own() -> None:
    (gpu,) = parse_gpus(SHARED)
    assert (gpu.memory_total, gpu.memory_free, gpu.uncorrected_ecc) == (None, None, None)
    assert (gpu.capability, gpu.pstate, gpu.sm_clock_mhz, gpu.slowdowns) == ("12.1", "P8", 208, ())


def test_a_gpu_tells_why_it_is_slow() -> None:
    one, other = parse_gpus(OWN + OWN)
    assert one == other
    assert one.memory_total == 143771 * 1024**2
    assert one.slowdowns == ("hardware slowdown", "hardware thermal slowdown", "power brake")
    assert "97 % busy" in str(one)


def test_an_idle_gpu_is_not_slowed_down() -> None:
    (gpu,) = parse_gpus(IDLE)
    assert (gpu.driver, gpu.capability, gpu.slowdowns, gpu.uncorrected_ecc) == ("580.159.04", "9.0", (), 0)
    assert gpu.memory_free == 143156 * 1024**2


def test_other_fields_than_asked_for_are_refused() -> None:
    with pytest.raises(EvidenceError, match="other fields"):
        parse_gpus("NVIDIA GB10, 580.173.02\n")


def test_processes_on_a_gpu_keep_commas_in_their_names() -> None:
    found = parse_processes("12, python3, 4096\n13, /opt/a, b/run, [N/A]\nNo running processes found\n")
    assert [(one.pid, one.name, one.memory) for one in found] == [
        (12, "python3", 4096 * 1024**2),
        (13, "/opt/a, b/run", None),
    ]


KERNEL = """\
release 6.17.0-1029-nvidia
option kho=off
loaded 580.173.02
driver  NVIDIA UNIX Open Kernel Module for aarch64  580.173.02  Release Build
gpu 000f:01:00.0
image vmlinuz-6.17.0-999-nvidia
image vmlinuz-6.17.0-1029-nvidia
module 6.17.0-1029-nvidia
config CONFIG_KEXEC_HANDOVER=y
config CONFIG_KEXEC_HANDOVER_ENABLE_DEFAULT=y
"""


def test_a_kernel_with_its_module() -> None:
    kernel = parse_facts(KERNEL)
    assert kernel.next_release == "6.17.0-1029-nvidia"
    assert kernel.module_loaded
    assert kernel.module_version == "580.173.02"
    assert not kernel.hands_over
    assert parse_facts(KERNEL.replace("option kho=off\n", "")).hands_over
    assert parse_facts(KERNEL + "option kho=on\n").hands_over


def test_the_link_in_boot_goes_before_the_newest() -> None:
    assert parse_facts(KERNEL + "next vmlinuz-6.17.0-999-nvidia\n").next_release == "6.17.0-999-nvidia"
    assert parse_facts("release 6.1\n").next_release is None
    with pytest.raises(EvidenceError):
        parse_facts("")


@given(st.lists(st.text(st.characters(categories=["Nd", "Ll", "Po"]), min_size=1)))
def test_any_names_have_a_newest(releases: list[str]) -> None:
    assert newest(releases) in (*releases, None)


def test_the_number_of_an_xid_is_read() -> None:
    match = XID.search("[ 1.0] NVRM: Xid (PCI:000f:01:00): 79, pid=1, GPU has fallen off the bus.")
    assert match
    assert match["number"] == "79"


def test_disks_by_path() -> None:
    text = (
        "path /models/a\nnas:/v1 nfs4 1000 400 500 45% /models\n"
        "path /nothing\npath /tmp\ntmpfs tmpfs 100 95 5 95% /tmp\n"
    )
    found = parse_df(text)
    assert set(found) == {"/models/a", "/tmp"}
    assert found["/models/a"].is_network
    assert found["/tmp"].used_percent == 95
    assert not found["/tmp"].is_network
    with pytest.raises(EvidenceError):
        parse_df("path /x\ndf: something else\n")


def test_shared_memory_of_a_container() -> None:
    head = "Filesystem 1-blocks Used Available Capacity Mounted on\n"
    assert parse_shm(f"{head}shm 67108864 0 67108864 0% /dev/shm\n").size == 64 * 1024**2
    with pytest.raises(EvidenceError):
        parse_shm(f"{head}overlay 1 1 1 1% /\n")


def test_locked_memory_of_a_new_process_and_of_raylets() -> None:
    locked = parse_locked("new unlimited\nraylet 65536\n")
    assert (locked.new, locked.raylets) == (None, (65536,))
    with pytest.raises(EvidenceError):
        parse_locked("")


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("", None),
        ("max\nmax\n", None),
        ("max\n1024\n2048\n", 1024),
        ("9223372036854771712\n", None),
        ("9223372036854710272\n", None),  # the same with pages of 64 KiB
    ],
)
def test_the_lowest_limit_of_all_cgroups_counts(text: str, limit: int | None) -> None:
    assert parse_cgroup(text) == limit


def test_swap_of_all_devices() -> None:
    head = "Filename Type Size Used Priority\n"
    assert parse_swaps(head) == Swap(0, 0)
    assert parse_swaps(f"{head}/swap.img file 2048 1024 -2\n/dev/zram0 partition 1024 0 100\n") == Swap(
        3072 * 1024, 1024 * 1024
    )


def test_the_largest_process_stands_first() -> None:
    found = parse_largest("7 300000 ray::IDLE\n9 900000 Web Content\nnonsense\n")
    assert [(one.pid, one.name) for one in found] == [(9, "Web Content"), (7, "ray::IDLE")]


@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    for parse in (
        parse_gpus,
        parse_processes,
        parse_df,
        parse_shm,
        parse_locked,
        parse_cgroup,
        parse_swaps,
        parse_facts,
    ):
        try:
            parse(text)
        except EvidenceError:
            continue
