"""Which message begins which phase.

Messages are recognised by their words and never by file and line, since those move between versions; verbs are matched
loosely, since they are reworded (0.17: ``torch.compile takes x s``, 0.33: ``took``).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from shakedown.engines.vllm.phases.bars import BAR_WORDS
from shakedown.engines.vllm.phases.facts import FACT_WORDS
from shakedown.engines.vllm.phases.names import PhaseName
from shakedown.engines.vllm.phases.wording import TAG, TOOK


@dataclass(frozen=True, slots=True)
class Marker:
    """A message that begins a phase.

    Attributes:
        word: every such line holds it.
        message: how the message begins; its group ``took``, if it has one, is how many seconds ago the phase began.
        phase: which.
    """

    word: str
    message: re.Pattern[str]
    phase: PhaseName


MARKERS = tuple(
    Marker(word, re.compile(TAG + message), phase)
    for phase, word, message in (
        (PhaseName.PROCESS, "non-default args: ", r"non-default args: "),
        (PhaseName.PROCESS, "server version", r"vLLM (?:API )?server version"),
        (PhaseName.PROCESS, "█  version", r".{0,60}█  version"),
        (PhaseName.CONFIG, "Resolved architecture", r"Resolved architecture"),
        (PhaseName.CONFIG, "Using max model len", r"Using max model len"),
        (PhaseName.ENGINE, "LLM engine", r"Initializing a V\d LLM engine"),
        (PhaseName.RAY, "Ray cluster", r"Connect(?:ing to existing|ed to) Ray cluster"),
        (PhaseName.RAY, "local Ray instance", r"Started a local Ray instance"),
        (PhaseName.RAY, "placement group", r"No current placement group|Using the existing placement group"),
        (PhaseName.RAY, "placement group", r"Waiting for creating a placement group"),
        (PhaseName.WORKERS, "bigger than a reserved", r"tensor_parallel_size=\d+ is bigger than a reserved number of"),
        (PhaseName.WORKERS, "Env var prefixes", r"Env var prefixes to copy"),
        (PhaseName.WORKERS, "Copying the following", r"Copying the following environment variables"),
        (PhaseName.C10D, "distributed_init_method=", r"world_size=\d+ rank=\d+ .{0,40}distributed_init_method="),
        (PhaseName.NCCL, "nccl==", r"vLLM is using nccl=="),
        (PhaseName.GROUPS, "is assigned as DP rank", r"rank \d+ in world size \d+ is assigned"),
        (PhaseName.WEIGHTS, "load model", r"Starting to load model"),
        (PhaseName.WEIGHTS, "Checkpoint size:", r"Filesystem type for checkpoints: .{0,80}Checkpoint size:"),
        (PhaseName.WEIGHTS, "downloading weights", r"Time spent downloading weights"),
        (PhaseName.WEIGHTS, "Prefetching checkpoint files", r"Prefetching checkpoint files"),
        (PhaseName.MODEL, "Loading weights", rf"Loading weights {TOOK}"),
        (PhaseName.PROFILE, "Model loading", rf"Model loading {TOOK}"),
        (PhaseName.COMPILE, "torch.compile", r"Using cache directory: .{0,300} for vLLM's torch\.compile"),
        (PhaseName.COMPILE, "torch.compile", r"vLLM's torch\.compile cache is disabled|Starting torch\.compile"),
        (PhaseName.COMPILE, "torch.compile", rf"torch\.compile (?:{TOOK}|and .{{0,60}} {TOOK}) (?P<took>[\d.]+) s"),
        (PhaseName.COMPILE, "Dynamo bytecode", r"Dynamo bytecode transform time: (?P<took>[\d.]+) s"),
        (PhaseName.COMPILE, "Compiling a graph", rf"Compiling a graph for .{{0,80}} {TOOK} (?P<took>[\d.]+) s"),
        (PhaseName.COMPILE, "Directly load", r"Directly load (?:the compiled graph|AOT compilation)"),
        (PhaseName.GRAPH_MEMORY, "CUDA graph memory", r"Profiling CUDA graph memory|Estimated CUDA graph memory"),
        (PhaseName.KV_CACHE, "KV cache memory", r"Available KV cache memory"),
        (PhaseName.KV_CACHE, "KV cache size", r"[\w +]{1,20} KV cache size: [\d,]+ tokens"),
        (PhaseName.KV_CACHE, "GiB for KV cache", r"\w+ set \([\d./]+\) GiB for KV cache"),
        (PhaseName.KV_CACHE, "memory for KV Cache", r"Initial free memory .{0,40}reserved .{0,20} memory for KV Cache"),
        (PhaseName.WARMUP, "JIT kernel warmup", r"JIT kernel warmup starting"),
        (PhaseName.WARMUP, "FlashInfer autotune", r"Running FlashInfer autotune"),
        (PhaseName.WARMUP, "Autotuning process", r".{0,40}Autotuning process starts"),
        (PhaseName.WARMUP, "warming up model", r"Compile and warming up model for size"),
        (PhaseName.WARMUP, "Warming up", r"Warming up (?:FlashInfer|model for the compilation|.{1,80}\bkernels?\b)"),
        (PhaseName.GRAPHS, "Graph capturing", r"Graph capturing finished in (?P<took>[\d.]+) sec"),
        (PhaseName.ENGINE_READY, "init engine (", rf"init engine \(.{{0,80}}?\) {TOOK}"),
        (PhaseName.API, "vLLM server", r"Starting vLLM server(?: \d+)? on"),
        (PhaseName.API, "vLLM API server", r"Starting vLLM API server(?: \d+)? on"),
        (PhaseName.API, "Available routes", r"Available routes are:"),
        (PhaseName.READY, "startup complete", r"Application startup complete"),
    )
)

NOT_BEFORE = {
    PhaseName.WEIGHTS: PhaseName.C10D,
    PhaseName.GRAPH_MEMORY: PhaseName.MODEL,
    PhaseName.WARMUP: PhaseName.KV_CACHE,
    PhaseName.GRAPHS: PhaseName.KV_CACHE,
}
"""Phases that a bar can begin, and what must have been seen before: bars are not stamped, and those of Ray's workers
come in ahead of stamped lines that were written earlier; some bars are drawn a first time while memory is profiled."""

WORDS = tuple(dict.fromkeys((*(marker.word for marker in MARKERS), *BAR_WORDS, *FACT_WORDS, "Route: ")))
"""Every line that means something here holds one of these, so that a long log can be sifted where it lies. The routes
are there for their stamps: the line that says the API answers has none."""


def marked(message: str) -> tuple[PhaseName, float] | None:
    """The phase that a message begins, and how long ago it began, s; None if it begins none."""
    for marker in MARKERS:
        if marker.word in message and (match := marker.message.match(message)) is not None:
            took = match.groupdict().get("took")
            return marker.phase, _seconds(took) if took else 0.0
    return None


def _seconds(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0
