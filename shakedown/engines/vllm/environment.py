"""What vLLM does not hand from the API server to its Ray workers, so that it must stand where each raylet is started.

Copied are the variables that vLLM itself defines and those that begin with VLLM_, LMCACHE_, NCCL_, UCX_, HF_ or
HUGGING_FACE_ (later also FLASH_ATTENTION_); worker-specific ones, ``VLLM_HOST_IP`` among them, never.
Source: vllm/ray/ray_env.py and vllm/v1/executor/ray_utils.py of 0.17.1, 0.32.0 and 0.33.0.
"""

from __future__ import annotations

HOST_IP = "VLLM_HOST_IP"
"""The address that a vLLM process takes for its own; each node needs another value."""

GLOO_NICS = "GLOO_SOCKET_IFNAME"
"""The NICs that Gloo's connections of a process go through: exact names, separated by commas.

Not set, or of a single character, it counts as missing: then Gloo takes the first address of the machine's name that it
can bind to, and loopback where there is none.
Source: PyTorch, torch/csrc/distributed/c10d/init.cpp (ProcessGroupGloo) and ProcessGroupGloo.cpp (createDefaultDevice).
"""

NEVER_COPIED = (
    GLOO_NICS,
    "TP_SOCKET_IFNAME",
    "PYTORCH_CUDA_ALLOC_CONF",
    "PYTORCH_ALLOC_CONF",
    "TORCH_NCCL_ASYNC_ERROR_HANDLING",
    "TORCH_NCCL_BLOCKING_WAIT",
    "TRITON_PTXAS_PATH",
    "CUDA_LAUNCH_BLOCKING",
)
"""Variables that change how ranks find each other, allocate or compile, and that no version copies by itself."""


def gloo_nics(value: str | None) -> tuple[str, ...]:
    """The NICs that a value of `GLOO_NICS` names, as PyTorch splits it; none where PyTorch takes it for missing."""
    return tuple(value.removesuffix(",").split(",")) if value and len(value) > 1 else ()
