"""Faults of memory as a recorded bundle shows them, on nodes dressed as GB10 machines unless said otherwise."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from selftests.proofs.bundle import FOLDER, HEAD, TABLES, WORKER, WORKER_ADDRESS, in_json, in_text
from selftests.proofs.model import Fault
from shakedown.nodes.evidence import Evidence

GPUS = "nvidia-smi --query-gpu=name,driver_version,compute_cap,"
COMPUTING = "nvidia-smi --query-compute-apps"
MEMINFO = "cat /proc/meminfo"
LARGEST = "processes with more"

NODES = (HEAD, WORKER)

HYBRID = {
    "architectures": ["Qwen3_5MoeForConditionalGeneration"],
    "dtype": "bfloat16",
    "text_config": {
        "num_hidden_layers": 48,
        "full_attention_interval": 4,
        "num_attention_heads": 32,
        "num_key_value_heads": 2,
        "head_dim": 256,
        "hidden_size": 3072,
        "linear_num_value_heads": 64,
        "linear_num_key_heads": 16,
        "linear_value_head_dim": 128,
        "linear_key_head_dim": 128,
        "linear_conv_kernel_dim": 4,
        "num_experts_per_tok": 8,
        "moe_intermediate_size": 1024,
        "vocab_size": 248320,
    },
}
"""Shape of a hybrid with 12 layers of full attention among 48, of the size that fills a pair of such machines."""


def model(gigabytes: float, config: Mapping[str, Any] = HYBRID) -> Callable[[Evidence], None]:
    """The folder of every node holds a model of that size and shape."""

    def edit(answer: dict[str, Any]) -> None:
        answer["config"] = config
        share = int(gigabytes * 1e9 / len(answer["shards"]))
        for facts in answer["shards"].values():
            facts["bytes"] = {"F8_E4M3": share}

    def inject(evidence: Evidence) -> None:
        for node in NODES:
            in_json(evidence, node, FOLDER, edit)

    return inject


def nothing(evidence: Evidence) -> None:
    """The nodes are as they were recorded: what is wrong stands in the deployment file."""
    assert evidence.nodes


def memory_taken(evidence: Evidence) -> None:
    """A training job still runs, and holds almost all memory."""
    evidence.change(WORKER, LARGEST, lambda text: f"{text}5120 119000000 python3\tpython3 train.py --resume\n")
    in_text(evidence, WORKER, MEMINFO, r"^MemAvailable:.*", "MemAvailable:     917504 kB")
    in_text(evidence, WORKER, MEMINFO, r"^AnonPages:.*", "AnonPages:     119877016 kB")


def page_cache(evidence: Evidence) -> None:
    """The checkpoint was just copied: its pages are still there (unslothai/unsloth#10704)."""
    in_text(evidence, WORKER, MEMINFO, r"^MemFree:.*", "MemFree:        43537408 kB")
    in_text(evidence, WORKER, MEMINFO, r"^Cached:.*", "Cached:         75026432 kB")


def object_store(evidence: Evidence) -> None:
    """Ray took its default share for objects (spark-arena/sparkrun#141)."""

    def edit(answer: dict[str, Any]) -> None:
        row = next(row for row in answer["tables"]["nodes"] if row["address"] == WORKER_ADDRESS)
        row["resources"]["object_store_memory"] = 36e9

    in_json(evidence, HEAD, TABLES, edit)


def rank_left(evidence: Evidence) -> None:
    """A rank of the last launch was not ended."""
    evidence.change(WORKER, COMPUTING, lambda _: "48213, VLLM::Worker_TP1, 78807\n")


def memory_leaked(evidence: Evidence) -> None:
    """33 GiB are held by nobody after a crash (al-engr.com, MiniMax on two Sparks)."""
    in_text(evidence, WORKER, MEMINFO, r"^MemAvailable:.*", "MemAvailable:   83963392 kB")


def program_in_python(evidence: Evidence) -> None:
    """What draws pictures on that machine is in Python, as the engine is."""
    line = "5120 3670016 python\t/opt/comfy/bin/python main.py --listen 0.0.0.0\n"
    evidence.change(WORKER, LARGEST, lambda text: text + line)


def desktop(evidence: Evidence) -> None:
    """Somebody is logged in at the screen, with a browser."""
    evidence.change(WORKER, LARGEST, lambda text: f"{text}5120 3670016 firefox\n")


def other_server(evidence: Evidence) -> None:
    """Ollama keeps a model on the GPU."""
    evidence.change(HEAD, COMPUTING, lambda _: "3391, /usr/local/bin/ollama, 21504\n")


def small_shm(evidence: Evidence) -> None:
    """The container has the 64 MB that Docker gives by itself (nccl#290, vllm#1710)."""
    in_text(evidence, WORKER, "df -P -B1 /dev/shm", r"^tmpfs.*", "shm 67108864 0 67108864 0% /dev/shm")


def memory_not_locked(evidence: Evidence) -> None:
    """The container was started without `--ulimit memlock=-1` (nccl-tests#206), and with docker's own capabilities."""
    in_text(evidence, WORKER, "locked memory", r"^(new|raylet) .*", r"\1 8388608 00000000a80425fb 4294967295")


def cgroup_limit(evidence: Evidence) -> None:
    """The container was started with `--memory 64g`."""
    evidence.change(WORKER, "cgroup", lambda text: f"68719476736\n{text}")


def swapped(evidence: Evidence) -> None:
    """The last launch pushed the rest of the system out."""
    swap = "/swap.img file 16777212 6291456 -2\n"
    evidence.change(WORKER, "cat /proc/swaps", lambda text: text.rstrip() + "\n" + swap)


def own_memory(free_mib: int) -> Callable[[Evidence], None]:
    """GPUs with memory of their own in plain nodes, of which so much is free on the worker."""

    def inject(evidence: Evidence) -> None:
        for node, free in ((HEAD, 142_000), (WORKER, free_mib)):
            line = f"NVIDIA H200, 580.95.05, 9.0, 143771, {free}, P0, 345, 76.2, 0, 0\n"
            evidence.change(node, GPUS, _says(line), exit_code=0)
            evidence.change(node, COMPUTING, lambda _: "", exit_code=0)

    return inject


def _says(answer: str) -> Callable[[str], str]:
    return lambda _: answer


def both(*edits: Callable[[Evidence], None]) -> Callable[[Evidence], None]:
    """One change after the other."""

    def inject(evidence: Evidence) -> None:
        for edit in edits:
            edit(evidence)

    return inject


def _fault(
    name: str,
    check: str,
    inject: Callable[[Evidence], None],
    *,
    stage: str = "hosts",
    declared: Mapping[str, Any] | None = None,
) -> Fault:
    """A fault of dressed nodes; what is declared otherwise goes without the start command, which would differ."""
    other = {**declared, "launch": None} if declared else {}
    return Fault(f"gb10-{name}", "bundle", check, stage=stage, inject=inject, pair="gb10", declared=other)


def odd_heads(evidence: Evidence) -> None:
    """A model of 25 heads, which two ranks cannot share."""
    for node in NODES:
        in_json(evidence, node, FOLDER, lambda answer: answer["config"].update(num_attention_heads=25))


def command(*more: str) -> str:
    """A start command for the dressed pair that says what its deployment file says, and more."""
    return " ".join(
        (
            "vllm serve /run/shakedown/model --served-model-name shakedown-tiny --port 30000 --max-model-len 4096",
            "--tensor-parallel-size 2 --distributed-executor-backend ray --reasoning-parser qwen3",
            "--enable-auto-tool-choice --tool-call-parser hermes",
            *more,
        )
    )


SIZED = {"serve.kv_cache_memory_gib": None, "serve.enforce_eager": False}
"""The plain pair with the KV cache that the utilisation leaves."""

FAULTS: tuple[Fault, ...] = (
    Fault(
        "gb10-memory-taken",
        "bundle",
        "MEM-02",
        {"MEM-10": "the job is what holds it"},
        stage="ray",
        inject=memory_taken,
        pair="gb10",
    ),
    _fault("utilization-out-of-reach", "MEM-03", nothing, declared={"serve.gpu_memory_utilization": 0.97}),
    Fault(
        "gb10-command-asks-for-more",
        "bundle",
        "MEM-03",
        {"SRV-09": "the deployment file declares a share that there is"},
        stage="hosts",
        inject=nothing,
        pair="gb10",
        declared={"launch.serve": command("--gpu-memory-utilization 0.97")},
    ),
    Fault(
        "gb10-command-caches-otherwise",
        "bundle",
        "SRV-09",
        stage="hosts",
        inject=nothing,
        pair="gb10",
        declared={"launch.serve": command("--gpu-memory-utilization 0.80 --kv-cache-dtype fp8 --max-num-seqs 16")},
    ),
    Fault(
        "gb10-command-without-length",
        "bundle",
        "SRV-09",
        stage="hosts",
        inject=nothing,
        pair="gb10",
        declared={
            "launch.serve": command("--gpu-memory-utilization 0.80").replace(" --max-model-len 4096", ""),
            "model.max_model_len": 2048,
        },
    ),
    Fault(
        "gb10-command-without-name",
        "bundle",
        "SRV-09",
        stage="hosts",
        inject=nothing,
        pair="gb10",
        declared={
            "launch.serve": command("--gpu-memory-utilization 0.80").replace(" --served-model-name shakedown-tiny", "")
        },
    ),
    Fault(
        "gb10-command-beyond-the-model",
        "bundle",
        "SRV-12",
        stage="hosts",
        inject=nothing,
        pair="gb10",
        declared={
            "launch.serve": command("--gpu-memory-utilization 0.80").replace("len 4096", "len 8192"),
            "model.max_model_len": 8192,
        },
    ),
    _fault("heads-that-do-not-divide", "SRV-12", odd_heads),
    Fault(
        "gb10-sleep-mode",
        "bundle",
        "SRV-08",
        stage="hosts",
        inject=nothing,
        pair="gb10",
        declared={"launch.serve": command("--gpu-memory-utilization 0.80 --enable-sleep-mode")},
    ),
    _fault("share-below-weights", "MEM-04", model(119), declared={"serve.gpu_memory_utilization": 0.4}),
    _fault(
        "context-too-long",
        "MEM-05",
        model(119),
        declared={"model.max_model_len": 4_000_000, "serve.gpu_memory_utilization": 0.7},
    ),
    _fault("no-headroom", "MEM-08", model(119), declared={"serve.gpu_memory_utilization": 0.88}),
    _fault(
        "peak-above-threshold",
        "MEM-01",
        model(119),
        declared={"ray.memory_monitor": 0.85, "serve.gpu_memory_utilization": 0.82},
    ),
    _fault("page-cache-in-the-way", "MEM-07", page_cache),
    _fault("object-store-too-large", "MEM-11", object_store, stage="ray"),
    _fault("steps-too-large", "MEM-15", nothing, declared={"serve.max_num_batched_tokens": 32768}),
    _fault("rank-left-over", "MEM-09", rank_left),
    _fault("memory-leaked", "MEM-09", memory_leaked, declared={"serve.gpu_memory_utilization": 0.4}),
    _fault("desktop", "MEM-10", desktop),
    _fault("program-in-python", "MEM-10", program_in_python),
    _fault("ollama", "MEM-10", other_server, stage="ray"),
    _fault("small-shm", "MEM-12", small_shm),
    _fault("memory-not-locked", "MEM-13", memory_not_locked, stage="ray"),
    _fault("cgroup-limit", "MEM-16", cgroup_limit),
    _fault("swap-in-use", "PLT-10", swapped),
    Fault(
        "bundle-gpu-memory-taken",
        "bundle",
        "MEM-02",
        stage="hosts",
        inject=both(model(119), own_memory(90_000)),
        declared=SIZED,
    ),
)
