"""The memory budget of a node, from what the deployment file declares and what the node says."""

from __future__ import annotations

from shakedown.engines.vllm.budget import GIB, Budget, Kind, Machine, Pool, Reserves, Settings
from shakedown.engines.vllm.model_shape import shape_of
from shakedown.errors import EvidenceError
from shakedown.inventory.model import Deployment, Node
from shakedown.inventory.profile import Profile
from shakedown.nodes.views.node import NodeViews

LARGE_DEVICE_GIB = 70
STEP_OF_LARGE_DEVICE = (1024, 8192)
STEP = (256, 2048)
"""Sequences and tokens of a step where neither is given, for an API server.

Source: vLLM 0.32.0, ``engine/arg_utils.py`` (get_batch_defaults); its older releases have smaller ones.
"""


def budget_of(view: NodeViews, node: Node, deployment: Deployment) -> Budget:
    """What this node's memory must hold, at the present stage.

    Raises:
        EvidenceError: the node does not tell what memory it has.
    """
    machine = machine_of(view, deployment.profile)
    return Budget(
        machine=machine,
        settings=_settings(deployment, node, machine),
        reserves=_reserves(deployment.profile),
        weights=view.model_files.folder.weights,
        shape=shape_of(view.model_files.folder.config),
    )


def machine_of(view: NodeViews, profile: Profile) -> Machine:
    """The node's memories.

    Raises:
        EvidenceError: there are GPUs, and what memory they have is not known.
    """
    host = Pool(view.memory.total, view.memory.available)
    kind = _kind(view, profile)
    if kind != "discrete":
        return Machine(kind, host, host)
    pools = [Pool(gpu.memory_total or 0, gpu.memory_free or 0) for gpu in view.gpu.gpus]
    return Machine(kind, host, min(pools, key=lambda pool: pool.available))


def _kind(view: NodeViews, profile: Profile) -> Kind:
    """Of the accelerators: as the profile says, else as nvidia-smi tells; none if there is neither it nor a GPU."""
    if profile.unified_memory:
        return "unified"
    if view.gpu.installed:
        with_memory = [gpu for gpu in view.gpu.gpus if gpu.memory_total is not None]
        return "discrete" if with_memory else "unified"
    if view.kernel.facts.gpus:
        raise EvidenceError(f"{view.node.name} has a GPU and no nvidia-smi, so its memory is not known")
    return "none"


def _settings(deployment: Deployment, node: Node, machine: Machine) -> Settings:
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
    )


def _reserves(profile: Profile) -> Reserves:
    return Reserves(
        rank=int(profile.rank_overhead_gib * GIB),
        graphs=int(profile.cuda_graphs_gib * GIB),
        system=int(profile.system_memory_gib * GIB),
        headroom=int(profile.memory_headroom_gib * GIB),
    )
