"""Variables that decide whether the ranks of vLLM find each other and run as meant, and how their values are read."""

from __future__ import annotations

import re
from collections.abc import Mapping

GLOO_NICS = "GLOO_SOCKET_IFNAME"
"""The NICs that Gloo's connections of a process go through: exact names, separated by commas.

Not set, or of a single character, it counts as missing: then Gloo takes the first address of the machine's name that it
can bind to, and loopback where there is none.
Source: PyTorch, torch/csrc/distributed/c10d/init.cpp (ProcessGroupGloo) and ProcessGroupGloo.cpp (createDefaultDevice).
"""

READY_TIMEOUT = "VLLM_ENGINE_READY_TIMEOUT_S"
READY_TIMEOUT_DEFAULT_S = 600
"""How long an API server process of several waits for the engine; one alone waits for ever.
Source: vllm/envs.py and vllm/v1/engine/{core_client,utils}.py of 0.17.1 and 0.32.0."""

_SHARED = re.compile(r"(?:GLOO|TP|TORCH|PYTORCH|TRITON)_\w+|CUDA_LAUNCH_BLOCKING|CUDA_DEVICE_MAX_CONNECTIONS")

DEBUGGING: Mapping[str, str] = {
    "CUDA_LAUNCH_BLOCKING": "1",
    "NCCL_DEBUG": "TRACE",
    "VLLM_LOGGING_LEVEL": "DEBUG",
    "VLLM_TRACE_FUNCTION": "1",
    "TORCH_DISTRIBUTED_DEBUG": "DETAIL",
}
"""Settings for finding faults that serialise launches, check every collective, or write a line for every call.

Sources: https://docs.vllm.ai/en/latest/usage/troubleshooting.html;
https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html;
https://docs.pytorch.org/docs/stable/distributed.html#debugging-torch-distributed-applications
"""


def without_rdma(environment: Mapping[str, str]) -> tuple[str, ...]:
    """``NAME=VALUE`` of the settings that keep NCCL from RDMA, whatever devices there are.

    Source: https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html (NCCL_IB_DISABLE, NCCL_NET)
    """
    off = {
        "NCCL_IB_DISABLE": environment.get("NCCL_IB_DISABLE", "0") != "0",
        "NCCL_NET": environment.get("NCCL_NET", "").lower() == "socket",
    }
    return tuple(f"{name}={environment[name]}" for name, is_off in off.items() if is_off)


def concerns_all_ranks(name: str) -> bool:
    """Whether a variable decides how ranks find each other, allocate or compile, so that all need it or none.

    Those of NCCL are compared where its settings are.
    """
    return _SHARED.fullmatch(name) is not None


def gloo_nics(value: str | None) -> tuple[str, ...]:
    """The NICs that a value of `GLOO_NICS` names, as PyTorch splits it; none where PyTorch takes it for missing."""
    return tuple(value.removesuffix(",").split(",")) if value and len(value) > 1 else ()


def debugging(environment: Mapping[str, str]) -> tuple[str, ...]:
    """``NAME=VALUE`` of the settings of `DEBUGGING` that are on."""
    return tuple(f"{name}={value}" for name, value in DEBUGGING.items() if environment.get(name, "").upper() == value)
