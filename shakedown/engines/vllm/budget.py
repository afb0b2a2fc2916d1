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
from typing import Any, Literal

from shakedown.engines.vllm.model_shape import ModelShape
from shakedown.units import GIB

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
    """What the server is started with, as far as memory goes.

    Attributes:
        utilization: ``gpu_memory_utilization``.
        kv_cache_bytes: ``--kv-cache-memory-bytes`` of a rank; None where the utilisation decides its size.
        tensor_parallel, pipeline_parallel: as given to the engine.
        ranks: on this node.
        max_model_len: tokens.
        max_num_seqs, max_num_batched_tokens: of one step.
        kv_dtype: ``--kv-cache-dtype``.
        graphs: whether CUDA graphs are captured.
        kill_threshold: share of the memory in use at which Ray kills workers; None where its monitor is off.
        known_from: where this was read, in words.
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
    known_from: str


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
        return self.share if given is None else self.rank_weights + self.activation + given

    @property
    def share(self) -> int:
        """Bytes of the device that the utilisation stands for."""
        return math.ceil(self.machine.device.total * self.settings.utilization)

    @property
    def needed_at_start(self) -> float:
        """Bytes that must be free when a rank looks.

        A GPU's share must be free even where the KV cache has a given size; on CPU it is not looked for then.
        """
        return max(self.requested, self.share) if self.looks_for_share else self.requested

    @property
    def looks_for_share(self) -> bool:
        """Whether a rank does not start unless its share of the device is free."""
        return self.settings.kv_cache_bytes is None or self.machine.kind != "none"

    @property
    def free_at_start(self) -> float:
        """Bytes of the device that will be free when a rank looks: now available, less context and processes."""
        return self.machine.device.available - self.beside

    @property
    def beside(self) -> int:
        """Bytes of the device that are taken beside the ranks' shares."""
        return CONTEXT if self._apart else self.settings.ranks * self.reserves.rank

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
        if self._apart:
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
        tried = (self._with(utilization=step / 100, kv_cache_bytes=None) for step in range(1, 100))
        return max((budget.settings.utilization for budget in tried if budget.fits), default=None)

    @property
    def fitting_cache(self) -> int | None:
        """Largest size of a rank's KV cache, bytes in hundredths of GiB, with which it fits; None where none would."""
        spare = min((self.low_water - self.least_left) / self.settings.ranks, self.free_at_start - self.requested)
        size = math.floor((self.kv_room + spare) / GIB * 100) * GIB // 100
        return size if size > 0 and self._with(kv_cache_bytes=size).fits else None

    @property
    def least_left(self) -> float:
        """Bytes that must be free on the machine at the worst moment: the headroom, and what Ray's monitor asks for."""
        threshold = self.settings.kill_threshold
        return max(self.reserves.headroom, 0.0 if threshold is None else (1 - threshold) * self.machine.host.total)

    @property
    def fits(self) -> bool:
        """Whether the ranks start, serve the greatest length and leave enough."""
        return self.starts and self.serves and self.low_water >= self.least_left

    @property
    def idle(self) -> Budget:
        """The same on this node with nothing else running: only what the system itself holds is taken."""
        machine = self.machine
        device = replace(machine.device, available=max(machine.device.available, self._all_but_system))
        return replace(self, machine=replace(machine, device=device, host=machine.host if self._apart else device))

    @property
    def held(self) -> int:
        """Bytes of the device that others hold now, beyond what the system takes."""
        return self.idle.machine.device.available - self.machine.device.available

    @property
    def starts(self) -> bool:
        """Whether a rank will find free what it needs."""
        return self.needed_at_start <= self.free_at_start

    @property
    def serves(self) -> bool:
        """Whether there is KV cache for one request of the greatest length; for any at all if the shape is unknown."""
        return self.kv_room > 0 and (self.kv_need(self.settings.max_model_len) or 0.0) <= self.kv_room

    def is_like(self, other: Budget, most: float) -> bool:
        """Whether the two accounts are the same but for up to that many bytes of free memory."""
        pairs = ((self.machine.host, other.machine.host), (self.machine.device, other.machine.device))
        near = all(abs(a.available - b.available) <= most and abs(a.total - b.total) <= most for a, b in pairs)
        return near and replace(self, machine=other.machine) == other

    @property
    def reachable_utilization(self) -> float:
        """Highest utilisation that this hardware can give when nothing else runs on it."""
        return max(0.0, (self._all_but_system - self.beside) / self.machine.device.total)

    @property
    def _all_but_system(self) -> int:
        return self.machine.device.total - self.reserves.system

    @property
    def _apart(self) -> bool:
        """Whether the accelerators have a memory of their own."""
        return self.machine.kind == "discrete"

    def _with(self, **settings: Any) -> Budget:
        return replace(self, settings=replace(self.settings, **settings))


def _largest(fits: Callable[[int], bool], most: int) -> int:
    """Largest number up to ``most`` that fits, 0 for none; what fits, fits smaller, too."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low
