"""Parsers of what a machine says about its kernel, its disks, and the limits of its processes."""

from __future__ import annotations

import os
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shakedown.errors import EvidenceError
from shakedown.inventory.load import load_deployment
from shakedown.nodes.views.disks import parse_df
from shakedown.nodes.views.kernel import XID, newest, parse_facts
from shakedown.nodes.views.limits import LimitsView, parse_cgroup, parse_locked, parse_shm
from shakedown.nodes.views.memory import Swap, parse_swaps
from shakedown.nodes.views.memory import parse_processes as parse_largest
from shakedown.simulator.deployment import FILE

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
    locked = parse_locked(f"new unlimited {NO_LOCKING} 4294967295\nraylet 65536 {NO_LOCKING} 4294967295\n")
    assert (locked.new, locked.raylets) == (None, (65536,))
    with pytest.raises(EvidenceError):
        parse_locked("")


NO_LOCKING = "00000000a80425fb"
"""The capabilities that docker gives by itself."""


@pytest.mark.parametrize(
    ("capabilities", "users", "limit"),
    [
        (NO_LOCKING, 2**32 - 1, 8388608),
        ("00000000a80465fb", 2**32 - 1, None),  # --cap-add IPC_LOCK
        ("000001ffffffffff", 2**32 - 1, None),  # --privileged
        ("000001ffffffffff", 65536, 8388608),  # root of a user namespace of its own
    ],
)
def test_a_capability_lifts_the_limit_of_locked_memory(capabilities: str, users: int, limit: int | None) -> None:
    assert parse_locked(f"new 8388608 {capabilities} {users}\n").new == limit


@pytest.mark.skipif(os.geteuid() != 0, reason="capabilities are taken away by root only")
@pytest.mark.parametrize(
    ("prefix", "limit"), [((), None), (("setpriv", "--bounding-set=-ipc_lock", "--inh-caps=-ipc_lock"), 65536)]
)
def test_the_capability_of_a_process_is_read(prefix: tuple[str, ...], limit: int | None) -> None:
    deployment = load_deployment(FILE)
    command = next(one for one in LimitsView.commands(deployment, deployment.head) if one.key.startswith("locked"))
    started = ["prlimit", "--memlock=65536:65536", *prefix, "sh", "-c", command.text]
    assert parse_locked(subprocess.run(started, capture_output=True, text=True, check=True).stdout).new == limit


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
    found = parse_largest("7 300000 ray::IDLE\t\n9 900000 Web Content\tfirefox -contentproc\nnonsense\n")
    assert [(one.pid, one.name) for one in found] == [(9, "Web Content"), (7, "ray::IDLE")]
    assert str(found[0]) == "Web Content (9, 0.9 GiB: firefox -contentproc)"


@pytest.mark.parametrize(
    ("name", "command", "of_ray"),
    [
        ("raylet", "/x/site-packages/ray/core/src/ray/raylet/raylet --store_socket_name=x", True),
        ("gcs_server", "", True),
        ("python3", "/usr/bin/python3 /x/site-packages/ray/dashboard/dashboard.py --host=127.0.0.1", True),
        ("python3", "/usr/bin/python3 -u /x/site-packages/ray/_private/log_monitor.py", True),
        ("ray::RayWorkerW", "ray::RayWorkerWrapper.execute_method", False),
        ("python", "/opt/comfy/bin/python main.py", False),
        ("VLLM::EngineCor", "VLLM::EngineCore", False),
    ],
)
def test_only_ray_itself_may_hold_memory_before_a_launch(name: str, command: str, of_ray: bool) -> None:
    (process,) = parse_largest(f"7 9000000 {name}\t{command}\n")
    assert process.is_ray is of_ray


@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    for parse in (
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
