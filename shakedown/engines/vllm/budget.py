"""What a node's memory must hold when a model is loaded, profiled and given its KV cache, computed before the launch.

vLLM takes ``gpu_memory_utilization`` of the device's total for each rank, whatever the model needs of it, and does not
start if less is free; what is left of that share after weights and one profiled step is KV cache. The CUDA context and
the buffers of NCCL are made before it looks, so they come on top of the share.
Sources: vLLM 0.32.0, ``v1/worker/utils.py`` (request_memory), ``v1/worker/gpu_worker.py`` (determine_available_memory),
``v1/core/kv_cache_utils.py`` (_check_enough_kv_cache_memory), ``utils/mem_utils.py`` (MemorySnapshot).

Where CPU and GPU share memory (``is_integrated_gpu``) all of it comes out of one pool, and vLLM takes MemAvailable for
what is free. Page cache of the checkpoint is given back by the kernel when asked, so it is shown and not subtracted.
Weights are taken as split evenly; what every rank holds whole (norms, routers, small projections) is some per cent of
one layer and is left to the reserve.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from shakedown.engines.vllm.model_shape import ModelShape

GIB = 1024**3

CONTEXT = GIB // 2
"""Bytes of a GPU's own memory that a CUDA context takes at least, before NCCL; of shared memory the profile tells."""

Kind = Literal["unified", "discrete", "none"]
"""Of the accelerators: they share the machine's memory, have their own, or there are none (the engine runs on CPU)."""


@dataclass(frozen=True, slots=True)
class Pool:
    """A memory, in bytes."""

    total: int
    available: int


@dataclass(frozen=True, slots=True)
class Machine:
    """The memories of a node.

    Attributes:
        kind: where the ranks' memory comes from.
        host: the machine's own.
        device: of the accelerator with the least available; the host's own pool unless the kind is ``discrete``.
    """

    kind: Kind
    host: Pool
    device: Pool


@dataclass(frozen=True, slots=True)
class Settings:
    """What the deployment file declares, as far as memory goes.

    Attributes:
        utilization: ``gpu_memory_utilization``.
        kv_cache_bytes: ``--kv-cache-memory-bytes`` of a rank; None where the utilisation decides.
        tensor_parallel, pipeline_parallel: as given to the engine.
        ranks: on this node.
        max_model_len: tokens.
        max_num_seqs, max_num_batched_tokens: of one step.
        kv_dtype: ``--kv-cache-dtype``.
        graphs: whether CUDA graphs are captured.
        kill_threshold: share of the memory in use at which Ray kills workers; None where its monitor is off.
    """

    utilization: float
    kv_cache_bytes: int | None
    tensor_parallel: int
    pipeline_parallel: int
    ranks: int
    max_model_len: int
    max_num_seqs: int
    max_num_batched_tokens: int
    kv_dtype: str
    graphs: bool
    kill_threshold: float | None


@dataclass(frozen=True, slots=True)
class Reserves:
    """What a profile sets aside, in bytes.

    Attributes:
        rank: of every rank beyond its share of the device: process, CUDA context, NCCL; and Ray's daemons.
        graphs: of a rank's CUDA graphs.
        system: held by the operating system and the driver on an idle node.
        headroom: that must stay free at the worst moment.
    """

    rank: int
    graphs: int
    system: int
    headroom: int


@dataclass(frozen=True, slots=True)
class Budget:
    """The memory of one node, from now to readiness.

    Attributes:
        machine: what there is.
        settings: what is asked for.
        reserves: what is set aside.
        weights: bytes of all shards.
        shape: of the model; None where its configuration does not tell.
    """

    machine: Machine
    settings: Settings
    reserves: Reserves
    weights: int
    shape: ModelShape | None

    @property
    def rank_weights(self) -> float:
        """Bytes of weights that one rank holds."""
        return self.weights / (self.settings.tensor_parallel * self.settings.pipeline_parallel)

    @property
    def activation(self) -> float:
        """Bytes of one step at its peak on one rank; 0 where the shape is unknown."""
        asked = self.settings
        if self.shape is None:
            return 0.0
        return self.shape.activation_bytes(asked.max_num_batched_tokens, asked.max_num_seqs, asked.tensor_parallel)

    @property
    def graphs(self) -> int:
        """Bytes of one rank's CUDA graphs."""
        return self.reserves.graphs if self.settings.graphs and self.machine.kind != "none" else 0

    @property
    def requested(self) -> float:
        """Bytes that one rank will take of the device: its share, or what it needs where the KV cache is given."""
        given = self.settings.kv_cache_bytes
        if given is not None:
            return self.rank_weights + self.activation + given
        return math.ceil(self.machine.device.total * self.settings.utilization)

    @property
    def free_at_start(self) -> float:
        """Bytes of the device that will be free when a rank looks: now available, less context and processes."""
        return self.machine.device.available - self.beside

    @property
    def beside(self) -> int:
        """Bytes of the device that are taken beside the ranks' shares."""
        return CONTEXT if self.machine.kind == "discrete" else self.settings.ranks * self.reserves.rank

    @property
    def kv_room(self) -> float:
        """Bytes left for the KV cache of one rank; negative where the weights alone do not fit."""
        given = self.settings.kv_cache_bytes
        if given is not None:
            return given
        return self.requested - self.rank_weights - self.activation - self.graphs

    def kv_need(self, tokens: int) -> float | None:
        """Bytes of KV cache that one request of that length takes on one rank; None where the shape is unknown."""
        asked = self.settings
        if self.shape is None:
            return None
        need = self.shape.cache_bytes(tokens, asked.tensor_parallel, asked.kv_dtype, asked.max_num_batched_tokens)
        return need / asked.pipeline_parallel

    @property
    def longest_context(self) -> int | None:
        """Most tokens of one request that the KV cache holds, at most the declared; None where the shape is unknown."""
        if self.shape is None:
            return None
        return _largest(lambda tokens: (self.kv_need(tokens) or 0.0) <= self.kv_room, self.settings.max_model_len)

    @property
    def phases(self) -> tuple[tuple[str, float], ...]:
        """Bytes still free on the machine after each phase of the start, page cache not counted."""
        started = self.machine.host.available - self.settings.ranks * self.reserves.rank
        if self.machine.kind == "discrete":
            return (("now", self.machine.host.available), ("ranks started", started))
        loaded = started - self.settings.ranks * self.rank_weights
        filled = started - self.settings.ranks * max(self.requested, self.rank_weights + self.activation)
        return (
            ("now", self.machine.host.available),
            ("ranks started", started),
            ("weights loaded", loaded),
            ("step profiled", loaded - self.settings.ranks * self.activation),
            ("KV cache and graphs", filled - self.settings.ranks * self.graphs),
        )

    @property
    def low_water(self) -> float:
        """Bytes free on the machine at the worst moment."""
        return min(left for _, left in self.phases)

    @property
    def peak_share(self) -> float:
        """Share of the machine's memory in use at the worst moment, as Ray's monitor counts it."""
        return 1 - self.low_water / self.machine.host.total

    @property
    def page_cache(self) -> int:
        """Bytes of files that pass through the page cache: each node reads all shards, whatever its ranks keep."""
        return self.weights

    @property
    def fitting_utilization(self) -> float | None:
        """Highest utilisation, in hundredths, that starts and leaves the headroom; None where none would serve.

        Sought among those that hold the weights and one request of the greatest length.
        """
        fitting = [
            tried.settings.utilization
            for tried in (self._with(step / 100) for step in range(1, 100))
            if tried.serves and tried.starts and tried.low_water >= self.reserves.headroom
        ]
        return max(fitting, default=None)

    @property
    def starts(self) -> bool:
        """Whether vLLM will find its share of the device free."""
        return self.requested <= self.free_at_start

    @property
    def serves(self) -> bool:
        """Whether there is KV cache for one request of the greatest length; for any at all if the shape is unknown."""
        return self.kv_room > 0 and (self.kv_need(self.settings.max_model_len) or 0.0) <= self.kv_room

    @property
    def reachable_utilization(self) -> float:
        """Highest utilisation that this hardware can give when nothing else runs on it."""
        free = self.machine.device.total - self.reserves.system - self.beside
        return max(0.0, free / self.machine.device.total)

    def _with(self, utilization: float) -> Budget:
        return replace(self, settings=replace(self.settings, utilization=utilization, kv_cache_bytes=None))


def _largest(fits: Callable[[int], bool], most: int) -> int:
    """Largest number up to ``most`` that fits, 0 for none; what fits, fits smaller, too."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low


def table(budget: Budget) -> str:
    """The budget for people: what a rank takes, what is left after each phase, and the utilisation that would fit."""
    need = budget.kv_need(budget.settings.max_model_len)
    rows = [
        ("available now", budget.machine.host.available, f"of {_gib(budget.machine.host.total)}"),
        ("weights of a rank", budget.rank_weights, f"1/{budget.settings.tensor_parallel} of the tensors"),
        ("one step at its peak", budget.activation, f"{budget.settings.max_num_batched_tokens} tokens, estimated"),
        ("CUDA graphs", budget.graphs, "profile"),
        ("KV cache of a rank", budget.kv_room, _needed(need, budget.settings.max_model_len)),
        ("a rank takes", budget.requested, _asked(budget.settings)),
        *((f"left: {phase}", left, "") for phase, left in budget.phases[1:]),
    ]
    lines = [f"{name:<26}{amount / GIB:>8.1f} GiB  {note}".rstrip() for name, amount, note in rows]
    return "\n".join([*lines, _advice(budget)])


def _needed(need: float | None, tokens: int) -> str:
    return "need unknown" if need is None else f"one request of {tokens} tokens needs {_gib(need)}"


def _asked(settings: Settings) -> str:
    if settings.kv_cache_bytes is not None:
        return "KV cache of a given size"
    return f"gpu_memory_utilization = {settings.utilization:g}"


def _advice(budget: Budget) -> str:
    fitting = budget.fitting_utilization
    if budget.settings.kv_cache_bytes is not None or budget.machine.kind == "none":
        return f"to spare: {_gib(max(0.0, budget.low_water - budget.reserves.headroom))} at the worst moment"
    if fitting is None:
        return "would fit: no utilisation at this length; a shorter max_model_len, more nodes or a smaller model"
    return f"would fit: gpu_memory_utilization = {fitting:.2f}"


def _gib(amount: float) -> str:
    return f"{amount / GIB:.1f} GiB"
