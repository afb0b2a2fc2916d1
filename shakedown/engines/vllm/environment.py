"""What vLLM does not hand from the API server to its Ray workers, so that it must stand where each raylet is started.

Copied are the variables that vLLM itself defines and those that begin with VLLM_, LMCACHE_, NCCL_, UCX_, HF_ or
HUGGING_FACE_ (later also FLASH_ATTENTION_); worker-specific ones, ``VLLM_HOST_IP`` among them, never.
Source: vllm/ray/ray_env.py and vllm/v1/executor/ray_utils.py of 0.17.1, 0.32.0 and 0.33.0.
"""

from __future__ import annotations

HOST_IP = "VLLM_HOST_IP"
"""The address that a vLLM process takes for its own; each node needs another value."""

NEVER_COPIED = (
    "GLOO_SOCKET_IFNAME",
    "TP_SOCKET_IFNAME",
    "PYTORCH_CUDA_ALLOC_CONF",
    "PYTORCH_ALLOC_CONF",
    "TORCH_NCCL_ASYNC_ERROR_HANDLING",
    "TORCH_NCCL_BLOCKING_WAIT",
    "TRITON_PTXAS_PATH",
    "CUDA_LAUNCH_BLOCKING",
)
"""Variables that change how ranks find each other, allocate or compile, and that no version copies by itself."""
