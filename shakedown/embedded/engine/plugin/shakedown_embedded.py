"""Plugin for vLLM: a CPU platform that lets the Ray executor spread ranks over nodes, patient waiting, slow loading.

vLLM's CPU platform names no Ray resource, so the Ray executor refuses it. This one calls a CPU node's share "GPU", as
the node's `ray start --num-gpus 1` does. No entry point does anything unless SHAKEDOWN_EMBEDDED=1 is set, so the
plugin cannot act on a real node even where it is found by accident.
"""

import os
import time
from typing import Any

_BETWEEN_LOOKS_S = 1e-4  # a token takes some hundred times as long


def _asked_for() -> bool:
    return os.environ.get("SHAKEDOWN_EMBEDDED") == "1"


def platform() -> str | None:
    """Entry point of ``vllm.platform_plugins``: name of the platform class, or None."""
    return "shakedown_embedded_platform.RayCpuPlatform" if _asked_for() else None


def slow_load() -> None:
    """Entry point of ``vllm.general_plugins``: each shard waits SHAKEDOWN_SLOW_LOAD_S seconds before it is read.

    It stands in the general group because that is run in every worker before it loads, when the loader can be imported.
    """
    seconds = float(os.environ.get("SHAKEDOWN_SLOW_LOAD_S") or 0)
    if not _asked_for() or seconds <= 0:
        return
    from vllm.model_executor.model_loader import weight_utils

    opened = weight_utils.safe_open

    def safe_open(*arguments: Any, **keywords: Any) -> Any:
        time.sleep(seconds)
        return opened(*arguments, **keywords)

    weight_utils.safe_open = safe_open


def patient_waiting() -> None:
    """Entry point of ``vllm.general_plugins``: whoever waits for a message sleeps between two looks.

    vLLM's readers of shared memory only yield the processor, for as long as a second: cheap beside a GPU, but here two
    cores compute what is waited for.
    """
    if not _asked_for():
        return
    from vllm.distributed.device_communicators import shm_broadcast

    shm_broadcast.sched_yield = lambda: time.sleep(_BETWEEN_LOOKS_S)
