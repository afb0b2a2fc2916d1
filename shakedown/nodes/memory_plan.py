"""The memory budget of a node: from what the server is started with, and from what the node says."""

from __future__ import annotations

from shakedown.engines.vllm.budget import Budget, Kind, Machine, Pool, Reserves, Settings
from shakedown.engines.vllm.model_shape import shape_of
from shakedown.errors import EvidenceError
from shakedown.inventory.model import Deployment, Node
from shakedown.inventory.profile import Profile
from shakedown.nodes.start import commanded
from shakedown.nodes.views.node import NodeViews
from shakedown.units import GIB, gib

LARGE_DEVICE_GIB = 70
STEP_OF_LARGE_DEVICE = (1024, 8192)
STEP = (256, 2048)
"""Sequences and tokens of a step where neither is given, for an API server.

Source: vLLM 0.32.0, ``engine/arg_utils.py`` (get_batch_defaults); its older releases have smaller ones.
"""


def budget_of(view: NodeViews, head: NodeViews, deployment: Deployment) -> Budget:
    """What this node's memory must hold, at the present stage.

    What the command gives that starts the server counts, and the deployment file for all that it leaves open.

    Raises:
        EvidenceError: the node does not tell what memory it has, or the head which server runs.
    """
    machine = machine_of(view, deployment.profile)
    started, known_from = commanded(head, deployment)
    return Budget(
        machine=machine,
        settings=_settings(started, view.node, machine, known_from),
        reserves=_reserves(deployment.profile),
        weights=view.model_files.folder.weights,
        shape=shape_of(view.model_files.folder.config),
    )


def holders(view: NodeViews, budget: Budget, least: float) -> list[str]:
    """Who holds the memory that a rank would take, in words, the largest first.

    Args:
        view: the node.
        budget: of the node.
        least: bytes from which on a holder is named.
    """
    tenants = [(one.memory or 0, f"{one} on the GPU") for one in view.gpu.processes]
    if budget.machine.kind == "discrete":
        found = tenants
    else:
        on_gpu = sum(amount for amount, _ in tenants)
        lost = view.memory.unexplained - on_gpu
        found = [
            *tenants,
            *((one.resident, str(one)) for one in view.memory.largest),
            (view.memory.shared, f"{gib(view.memory.shared)} of shared memory: `ls -l /dev/shm`"),
            (lost - budget.reserves.system, f"{gib(lost)} that no process has, but a driver: MEM-09"),
        ]
    return [words for amount, words in sorted(found, key=lambda one: -one[0]) if amount >= least]


def machine_of(view: NodeViews, profile: Profile) -> Machine:
    """The node's memories.

    Raises:
        EvidenceError: there are GPUs, and what memory they have is not known.
    """
    host = Pool(view.memory.total, view.memory.available)
    kind = kind_of(view, profile)
    if kind != "discrete":
        return Machine(kind, host, host)
    pools = [Pool(gpu.memory_total or 0, gpu.memory_free or 0) for gpu in view.gpu.gpus]
    return Machine(kind, host, min(pools, key=lambda pool: pool.available))


def kind_of(view: NodeViews, profile: Profile) -> Kind:
    """Of the accelerators: as the profile says, else as nvidia-smi tells; none if there is neither it nor a GPU.

    Raises:
        EvidenceError: there is a GPU, and no nvidia-smi to tell.
    """
    if profile.unified_memory:
        return "unified"
    if view.gpu.installed:
        with_memory = [gpu for gpu in view.gpu.gpus if gpu.memory_total is not None]
        return "discrete" if with_memory else "unified"
    if view.kernel.facts.gpus:
        raise EvidenceError(f"{view.node.name} has a GPU and no nvidia-smi, so its memory is not known")
    return "none"


def _settings(deployment: Deployment, node: Node, machine: Machine, known_from: str) -> Settings:
    serve = deployment.serve
    sequences, tokens = STEP_OF_LARGE_DEVICE if machine.device.total >= LARGE_DEVICE_GIB * GIB else STEP
    monitor = deployment.ray.memory_monitor
    ranks = serve.tensor_parallel * serve.pipeline_parallel
    return Settings(
        utilization=serve.gpu_memory_utilization,
        kv_cache_bytes=None if serve.kv_cache_memory_gib is None else int(serve.kv_cache_memory_gib * GIB),
        tensor_parallel=serve.tensor_parallel,
        pipeline_parallel=serve.pipeline_parallel,
        ranks=min(ranks, max(1, node.gpus)),
        max_model_len=deployment.model.max_model_len,
        max_num_seqs=serve.max_num_seqs or sequences,
        max_num_batched_tokens=serve.max_num_batched_tokens or tokens,
        kv_dtype=serve.kv_cache_dtype,
        graphs=not serve.enforce_eager,
        kill_threshold=None if monitor == "disabled" else monitor,
        known_from=known_from,
    )


def _reserves(profile: Profile) -> Reserves:
    return Reserves(
        rank=int(profile.rank_overhead_gib * GIB),
        graphs=int(profile.cuda_graphs_gib * GIB),
        system=int(profile.system_memory_gib * GIB),
        headroom=int(profile.memory_headroom_gib * GIB),
    )
