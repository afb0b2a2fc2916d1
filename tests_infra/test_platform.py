"""The machines themselves: driver, kernel, GPU, assembler, disks."""

from __future__ import annotations

import pytest

from fixtures.claim import Claim
from shakedown.inventory.model import Deployment, Node
from shakedown.nodes.views.disks import TEMPORARY
from shakedown.nodes.views.gpu import BUSY_PERCENT
from shakedown.nodes.views.kernel import Kernel
from shakedown.nodes.views.node import NodeViews
from shakedown.units import GIB

pytestmark = pytest.mark.infra

ALWAYS = ("hosts", "ray", "serving")
BEFORE_LAUNCH = ("hosts", "ray")

LEAST_FREE_GIB = 1.0
"""Room for what one launch compiles and logs, several times over. Ours."""


@pytest.fixture
def kernel(view: NodeViews) -> Kernel:
    """The kernel of a node that has an NVIDIA GPU on its bus, whether or not a driver knows it."""
    facts = view.kernel.facts
    if not facts.gpus:
        pytest.skip("no NVIDIA GPU on the bus of this node")
    return facts


@pytest.mark.check("PLT-01", stages=ALWAYS)
def test_driver_is_loaded(kernel: Kernel, claim: Claim) -> None:
    """On every node with an NVIDIA GPU the running kernel has loaded NVIDIA's module."""
    has = "is installed for it" if kernel.release in kernel.with_module else "is not installed for it"
    claim(
        kernel.module_loaded,
        found=f"{kernel.release} runs without the module nvidia, which {has}",
        expected="the module nvidia, loaded",
    )


@pytest.mark.check("PLT-01", stages=ALWAYS, severity="warning")
def test_next_boot_has_a_driver(kernel: Kernel, claim: Claim) -> None:
    """The kernel that boots next has NVIDIA's module, too."""
    upcoming = kernel.next_release
    if upcoming is None or not kernel.with_module:
        pytest.skip("no kernel in /boot, or no module in /lib/modules: this node gets them from elsewhere")
    claim(
        upcoming in kernel.with_module,
        found=f"{upcoming} boots next and has no nvidia.ko; {kernel.release} runs",
        expected=f"a kernel with the module: {', '.join(sorted(kernel.with_module))}",
    )


@pytest.mark.check("PLT-02", stages=ALWAYS, needs=("PLT-01",))
def test_driver_and_its_library_agree(view: NodeViews, kernel: Kernel, claim: Claim) -> None:
    """nvidia-smi answers, and its library has the version of the loaded module."""
    if not view.gpu.installed:
        claim(False, found="a GPU on the bus, a loaded module and no nvidia-smi", expected="the driver's tools")
    complaint = view.gpu.complaint
    claim(complaint is None, found=f"nvidia-smi: {complaint}", expected="an answer")
    versions = {gpu.driver for gpu in view.gpu.gpus}
    claim(
        kernel.module_version is None or versions <= {kernel.module_version},
        found=f"library {', '.join(sorted(versions))}, module {kernel.module_version}",
        expected="one version; after an upgrade a reboot makes it so",
    )


@pytest.mark.check("PLT-02", stages=BEFORE_LAUNCH, severity="warning")
def test_no_reboot_is_due(kernel: Kernel, claim: Claim) -> None:
    """No package waits for a reboot of a node with an NVIDIA GPU: what runs is what is installed."""
    claim(not kernel.reboot_required, found="/var/run/reboot-required", expected="no such file")


@pytest.mark.check("PLT-04", stages=ALWAYS, needs=("PLT-02",))
def test_gpu_is_not_held_down(view: NodeViews, deployment: Deployment, claim: Claim) -> None:
    """No GPU is slowed down by heat or by its power supply, and one that is busy has left its lowest clocks."""
    if not view.gpu.gpus:
        pytest.skip("this node has no GPU that nvidia-smi knows")
    least = deployment.profile.busy_clock_mhz or 0
    busy = [gpu for gpu in view.gpu.gpus if gpu.is_busy]
    slow = [gpu for gpu in view.gpu.gpus if gpu.slowdowns or (gpu in busy and (gpu.sm_clock_mhz or least) < least)]
    if not busy and not slow:
        pytest.skip("no GPU here computes, and low clocks show under load only: --tier 2 loads it before a launch")
    claim(
        not slow,
        found="; ".join(map(str, slow)),
        expected=f"no slowdown, and at least {least} MHz at {BUSY_PERCENT} % busy or more "
        f"({deployment.profile.origin('busy_clock_mhz')})",
    )


@pytest.mark.check("PLT-05", stages=ALWAYS, needs=("PLT-02",))
def test_assembler_knows_the_gpu(view: NodeViews, claim: Claim) -> None:
    """The assembler that Triton runs knows the GPU of every node."""
    capabilities = {gpu.capability for gpu in view.gpu.gpus}
    assembler = view.engine_files.files.assembler
    if not capabilities or assembler is None:
        pytest.skip("no GPU that nvidia-smi knows, or no Triton: nothing is assembled here")
    unknown = sorted(capability for capability in capabilities if not assembler.knows(capability))
    claim(
        not unknown,
        found=f"{assembler} does not know compute capability {', '.join(unknown)}",
        expected="the ptxas of a newer CUDA",
    )


@pytest.mark.usefixtures("kernel")
@pytest.mark.check("PLT-06", stages=ALWAYS)
def test_kernel_logged_no_hardware_error(view: NodeViews, claim: Claim) -> None:
    """Since boot the kernel of no node with an NVIDIA GPU has logged an Xid of the GPU's own or a hardware error."""
    errors = view.kernel.errors
    claim(not errors, found=f"{len(errors)} lines, the last: {(errors or ('',))[-1]}", expected="none")


@pytest.mark.check("PLT-06", stages=ALWAYS, needs=("PLT-02",))
def test_gpu_memory_has_no_errors(view: NodeViews, claim: Claim) -> None:
    """No GPU counts errors of its memory that it could not correct."""
    counts = {gpu.name: gpu.uncorrected_ecc for gpu in view.gpu.gpus if gpu.uncorrected_ecc is not None}
    if not counts:
        pytest.skip("no GPU here counts errors of its memory")
    bad = {name: count for name, count in counts.items() if count}
    claim(not bad, found=", ".join(f"{name}: {count}" for name, count in bad.items()), expected="0")


@pytest.mark.check("PLT-08", stages=ALWAYS)
def test_ray_can_write_its_files(view: NodeViews, deployment: Deployment, claim: Claim) -> None:
    """The file system of Ray's temporary files is not so full that Ray refuses to use it."""
    disk, most = view.disks.under(TEMPORARY), deployment.profile.disk_full_percent
    claim(
        disk is not None and disk.used_percent < most,
        found=f"{TEMPORARY} on {disk}" if disk else f"no {TEMPORARY}",
        expected=f"less than {most:g} % used ({deployment.profile.origin('disk_full_percent')})",
    )


@pytest.mark.check("PLT-08", stages=BEFORE_LAUNCH)
def test_launch_has_room_for_what_it_writes(view: NodeViews, claim: Claim) -> None:
    """Where a launch writes compiled graphs and kernels, logs and images, there is room for them."""
    written = view.disks.written
    full = [one for one in written if one.disk.available < LEAST_FREE_GIB * GIB]
    claim(
        bool(written) and not full,
        found="; ".join(map(str, full)) or "no folder into which a launch would write",
        expected=f"at least {LEAST_FREE_GIB:g} GiB free",
    )


@pytest.mark.check("PLT-08", stages=BEFORE_LAUNCH, needs=("MOD-03",), severity="warning")
def test_model_is_on_a_local_disk(view: NodeViews, deployment: Deployment, claim: Claim) -> None:
    """Every node reads the model from a disk of its own, and not over a network."""
    disk = view.disks.under(str(deployment.model.path))
    claim(
        disk is not None and not disk.is_network,
        found=f"{deployment.model.path} on {disk}",
        expected="a local file system; every node reads all shards",
    )


@pytest.mark.check("PLT-09", stages=ALWAYS)
def test_kernel_hands_nothing_over(view: NodeViews, node: Node, claim: Claim) -> None:
    """Where RDMA is declared, the kernel does not keep memory back for a kexec handover."""
    if not node.hcas:
        pytest.skip("no RDMA device is declared (node.hcas)")
    facts = view.kernel.facts
    claim(not facts.hands_over, found=f"{facts.release} with kexec handover on", expected="kho=off at boot")
