"""Faults of the machines and of the model's files as a recorded bundle shows them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from selftests.proofs.bundle import FOLDER, HEAD, WORKER, in_json, in_text
from selftests.proofs.bundle_memory import GPUS, NODES, nothing
from selftests.proofs.model import Fault, Pair
from shakedown.nodes.evidence import Evidence

KERNEL = "kernel: "
LOG = "kernel log: "
ENGINE = "python engine_files/"
DISKS = "df: /"
MORE = "nvidia-smi: reasons"

RUNNING = "6.17.0-1029-nvidia"
HUB_COMMAND = (
    "vllm serve org/model --served-model-name shakedown-tiny --port 30000 --max-model-len 4096 "
    "--tensor-parallel-size 2 --distributed-executor-backend ray --reasoning-parser qwen3 "
    "--enable-auto-tool-choice --tool-call-parser hermes --kv-cache-memory-bytes 256M --enforce-eager"
)
"""All is as declared, but for the model."""

MISMATCH = "Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 580.178\n"


def module_not_loaded(evidence: Evidence) -> None:
    """A new kernel was booted for which no module was installed (DGX OS brings modules as packages)."""
    in_text(evidence, WORKER, KERNEL, r"^(loaded|driver).*\n", "")


def next_kernel_without_module(evidence: Evidence) -> None:
    """An unattended upgrade brought a kernel, and its module is still held back."""
    evidence.change(WORKER, KERNEL, lambda text: f"{text}image vmlinuz-6.17.0-1031-nvidia\n")


def library_newer(evidence: Evidence) -> None:
    """An unattended upgrade replaced the driver's library under a running kernel module."""
    for key in (GPUS, "nvidia-smi --query-compute-apps"):
        evidence.change(WORKER, key, lambda _: MISMATCH, exit_code=18)


def container_library_older(evidence: Evidence) -> None:
    """nvidia-smi answers, with a library of another version than the module."""
    in_text(evidence, WORKER, GPUS, r"580\.173\.02", "580.142.00")


def reboot_due(evidence: Evidence) -> None:
    """Packages wait for a reboot."""
    evidence.change(WORKER, KERNEL, lambda text: f"{text}reboot required\n")


def clocks_stuck(evidence: Evidence) -> None:
    """The power supply failed to negotiate: busy, P0, and 611 MHz (parallelArchitect/spark-gpu-throttle-check)."""
    in_text(evidence, WORKER, GPUS, r"P8, 208, 11\.17, 0, ", "P0, 611, 14.20, 96, ")


def power_brake(evidence: Evidence) -> None:
    """The supply asks the GPU to slow down."""
    in_text(evidence, WORKER, MORE, r"0x0000000000000001", "0x0000000000000080")


def memory_errors(evidence: Evidence) -> None:
    """The GPU counts errors that it could not correct."""
    in_text(evidence, WORKER, MORE, r"^errors 0, .*", "errors 0, 2")


def xid(evidence: Evidence) -> None:
    """The GPU fell off the bus at some time since boot."""
    line = "[ 8123.1] NVRM: Xid (PCI:000f:01:00): 79, pid=2211, GPU has fallen off the bus.\n"
    evidence.change(WORKER, LOG, lambda text: line + text)


def old_assembler(evidence: Evidence) -> None:
    """Triton runs the ptxas of an earlier CUDA (triton-lang/triton#8539)."""
    in_json(evidence, WORKER, ENGINE, lambda answer: answer["assembler"].update(release="12.8"))


def caches_full(evidence: Evidence) -> None:
    """The disk of the container's own files is full of old images: no compiled kernel fits on it any more."""
    in_text(
        evidence,
        WORKER,
        "df: folders that a launch writes, where",
        r"(compiled .*\n\S+ +\S+ +\d+) +\d+ +\d+ +\d+%",
        r"\1 270132174016 421000000 100%",
    )


def disk_full(evidence: Evidence) -> None:
    """Logs and spilled objects filled the disk under /tmp."""
    in_text(evidence, WORKER, DISKS, r"^(tmpfs +tmpfs +\d+) +\d+ +\d+ +\d+%", r"\1 12500000000 137995008 99%")


def model_over_nfs(evidence: Evidence) -> None:
    """The model lies on one node and the other mounts it."""
    in_text(
        evidence,
        WORKER,
        DISKS,
        r"^\S+ +\S+ +(\d+ +\d+ +\d+ +\d+%) +/run/.*",
        r"nas:/models nfs4 \1 /run/shakedown/model",
    )


def kernel_hands_over(evidence: Evidence) -> None:
    """The kernel keeps memory for a handover (christopherowen/dgx-spark-networking)."""
    in_text(evidence, WORKER, KERNEL, r"^option kho=off", "config CONFIG_KEXEC_HANDOVER_ENABLE_DEFAULT=y")


def folder(edit: Callable[[dict[str, Any]], object], *nodes: str) -> Callable[[Evidence], None]:
    """Change the answer about the model's folder on these nodes, or on the worker."""

    def inject(evidence: Evidence) -> None:
        for node in nodes or (WORKER,):
            in_json(evidence, node, FOLDER, edit)

    return inject


def revisions(evidence: Evidence) -> None:
    """Each node downloaded the model on another day."""
    in_json(evidence, HEAD, FOLDER, lambda answer: answer.update(revision="a" * 40))
    in_json(evidence, WORKER, FOLDER, lambda answer: answer.update(revision="b" * 40))


def folder_denied(evidence: Evidence) -> None:
    """The cache belongs to root and the engine runs as another user (vllm#20127)."""
    evidence.change(
        WORKER, FOLDER, lambda _: json.dumps({"folder": False, "denied": "Permission denied, as user 1000"})
    )


def unreadable(answer: dict[str, Any]) -> None:
    """A shard was downloaded by root, for root alone."""
    answer["unreadable"] = {"tokenizer.json": "mode 600, owner 0"}


def unfinished(answer: dict[str, Any]) -> None:
    """A download was given up."""
    answer["unfinished"] = ["5f2c91d0.incomplete"]


def other_format(answer: dict[str, Any]) -> None:
    """Somebody put a model of another format there."""
    answer.update(shards={}, index=None, other_weights=["pytorch_model.bin"])


def architecture(answer: dict[str, Any]) -> None:
    """The model is newer than the engine."""
    answer["config"]["architectures"] = ["Qwen9MoeForCausalLM"]


def quantisation(answer: dict[str, Any]) -> None:
    """The weights are quantised in a way that this engine does not know."""
    answer["config"]["quantization_config"] = {"quant_method": "exl3"}


def cache_cut_off(answer: dict[str, Any]) -> None:
    """The last start was killed while it wrote what it had compiled (vllm, compilation/backends.py, save_to_file)."""
    answer["cache"].update(entries=3, problem="0a1b2c3d4e/rank_0_0/backbone/vllm_compile_cache.py is not whole")


def cache_of_root(answer: dict[str, Any]) -> None:
    """Somebody tried it as root once."""
    answer["cache"].update(entries=1, problem="0a1b2c3d4e may not be written by user 1000")


def engine(edit: Callable[[dict[str, Any]], object]) -> Callable[[Evidence], None]:
    """Change the answer about the engine's files on the worker."""
    return lambda evidence: in_json(evidence, WORKER, ENGINE, edit)


def _fault(
    name: str,
    check: str,
    inject: Callable[[Evidence], None],
    *,
    stage: str = "hosts",
    pair: Pair = "embedded",
    declared: Mapping[str, Any] | None = None,
    **companions: str,
) -> Fault:
    return Fault(
        f"{'gb10' if pair == 'gb10' else 'bundle'}-{name}",
        "bundle",
        check,
        companions={id.replace("_", "-"): reason for id, reason in companions.items()},
        stage=stage,
        inject=inject,
        pair=pair,
        declared=declared or {},
    )


FAULTS: tuple[Fault, ...] = (
    _fault("module-not-loaded", "PLT-01", module_not_loaded, pair="gb10"),
    _fault("next-kernel-without-module", "PLT-01", next_kernel_without_module, pair="gb10"),
    _fault("library-newer", "PLT-02", library_newer, pair="gb10"),
    _fault("library-of-another-version", "PLT-02", container_library_older, pair="gb10", stage="ray"),
    _fault("reboot-due", "PLT-02", reboot_due, pair="gb10"),
    _fault("clocks-stuck", "PLT-04", clocks_stuck, pair="gb10", stage="ray"),
    _fault("power-brake", "PLT-04", power_brake, pair="gb10"),
    _fault("old-assembler", "PLT-05", old_assembler, pair="gb10"),
    _fault("xid", "PLT-06", xid, pair="gb10"),
    _fault("gpu-memory-errors", "PLT-06", memory_errors, pair="gb10"),
    _fault("disk-full", "PLT-08", disk_full),
    _fault("caches-full", "PLT-08", caches_full),
    _fault("model-over-nfs", "PLT-08", model_over_nfs),
    _fault("kernel-hands-over", "PLT-09", kernel_hands_over, pair="gb10"),
    _fault("revisions", "MOD-03", revisions),
    _fault("folder-denied", "MOD-03", folder_denied),
    _fault("file-unreadable", "MOD-04", folder(unreadable)),
    _fault("download-unfinished", "MOD-04", folder(unfinished)),
    _fault(
        "weights-of-another-format",
        "MOD-05",
        folder(other_format, *NODES),
        MOD_03="a folder without safetensors is no model for this engine",
    ),
    _fault("architecture-unknown", "MOD-06", folder(architecture, *NODES)),
    _fault("quantisation-unknown", "MOD-06", folder(quantisation, *NODES)),
    _fault(
        "name-on-the-hub",
        "MOD-07",
        nothing,
        declared={"launch.serve": HUB_COMMAND},
        SRV_09="the model is another one than declared, too",
    ),
    _fault("compile-cache-damaged", "MOD-08", engine(cache_cut_off)),
    _fault("compile-cache-of-root", "MOD-08", engine(cache_of_root)),
    _fault(
        "loader-by-rank",
        "MOD-09",
        engine(lambda found: found.update(fastsafetensors_by_global_rank=True)),
        declared={"serve.load_format": "fastsafetensors"},
    ),
)
