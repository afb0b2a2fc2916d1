"""The environment in which a rank of vLLM ends up: what its raylet gave it, and what the driver hands over, by release.

The driver is the process that makes the ranks: the engine core on the head, a child of the API server. Read in the
sources of 0.17.1, 0.19.0, 0.20.0, 0.20.2, 0.21.0, 0.22.0, 0.23.0, 0.25.1, 0.26.0, 0.27.1, 0.28.0, 0.30.0 and 0.32.0:
``vllm/envs.py``, ``vllm/ray/ray_env.py``, and the modules ``ray_executor``, ``ray_executor_v2``, ``ray_env_utils`` and
``ray_utils`` of ``vllm/v1/executor``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass

from shakedown.engines.vllm.wire import Version

HOST_IP = "VLLM_HOST_IP"
"""The address that a vLLM process takes for its own; each node needs another value."""

SECOND_EXECUTOR = "VLLM_USE_RAY_V2_EXECUTOR_BACKEND"
"""Chooses between the two Ray executors in releases that have both."""

SECOND_EXECUTOR_EXISTS: Version = (0, 20, 0)
SECOND_EXECUTOR_IS_DEFAULT: Version = (0, 21, 0)
"""``envs.py`` of 0.20.2 has "0" for the default, that of 0.21.0 has "1"; 0.19.0 does not know the variable."""

EXTRA_NAMES = "VLLM_RAY_EXTRA_ENV_VARS_TO_COPY"
EXTRA_PREFIXES = "VLLM_RAY_EXTRA_ENV_VAR_PREFIXES_TO_COPY"
"""Names and prefixes that the first executor copies beside its own; separated by commas."""

PREFIXES = ("VLLM_", "LMCACHE_", "NCCL_", "UCX_", "HF_", "HUGGING_FACE_")
LATER_PREFIXES: Mapping[str, Version] = {"FLASH_ATTENTION_": (0, 27, 0)}
"""What the first executor copies by prefix; the later one is not in 0.26.0 and is in 0.27.1."""

NAMES = frozenset(
    {
        *("PYTHONHASHSEED", "CUDA_HOME", "LD_LIBRARY_PATH", "MAX_JOBS", "NVCC_THREADS", "CMAKE_BUILD_TYPE", "VERBOSE"),
        *("S3_ACCESS_KEY_ID", "S3_SECRET_ACCESS_KEY", "S3_ENDPOINT_URL", "NO_COLOR"),
    }
)
"""What the first executor copies by name: one name of ``ray_env.py``, and those of ``vllm.envs`` without the prefix."""

OWN_TO_EACH = frozenset(
    {HOST_IP, "VLLM_HOST_PORT", "LOCAL_RANK", "CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES"}
)
LATER_OWN_TO_EACH: Mapping[str, Version] = {"VLLM_NIXL_SIDE_CHANNEL_HOST": (0, 22, 0)}
"""What no executor ever copies, since each process needs its own."""

FIRST_WITH: Mapping[str, Version] = {
    "second executor": SECOND_EXECUTOR_EXISTS,
    "second executor by default": SECOND_EXECUTOR_IS_DEFAULT,
    **LATER_OWN_TO_EACH,
    **LATER_PREFIXES,
}
"""Traits that are seen in the installed sources -> the first release that has them."""


@dataclass(frozen=True, slots=True)
class HandOver:
    """What one release does with the driver's environment.

    Attributes:
        version: the release.
        everything: it copies all variables; otherwise those of its lists.
        overwrites: what it copies replaces what the worker has; otherwise it only fills gaps.
        excluded: names that the operator's own file takes out (``ray_non_carry_over_env_vars.json``).
    """

    version: Version
    everything: bool
    overwrites: bool
    excluded: frozenset[str] = frozenset()

    def copied(self, driver: Mapping[str, str]) -> dict[str, str]:
        """The part of the driver's environment that is handed to every worker."""
        return {name: value for name, value in driver.items() if self._copies(name, driver)}

    def final(self, worker: Mapping[str, str], driver: Mapping[str, str]) -> dict[str, str]:
        """The environment of a rank.

        Args:
            worker: of the raylet that starts it.
            driver: of the process that makes the ranks.
        """
        handed = self.copied(driver)
        return {**worker, **handed} if self.overwrites else {**handed, **worker}

    def replaced(self, worker: Mapping[str, str], driver: Mapping[str, str]) -> dict[str, tuple[str, str]]:
        """Name -> (the worker's value, the driver's) of what a worker has and the driver replaces."""
        if not self.overwrites:
            return {}
        return {
            name: (worker[name], value)
            for name, value in self.copied(driver).items()
            if name in worker and worker[name] != value
        }

    def _copies(self, name: str, driver: Mapping[str, str]) -> bool:
        if name in self.excluded or name in OWN_TO_EACH or _known(name, LATER_OWN_TO_EACH, self.version):
            return False
        if self.everything:
            return True
        if name in NAMES or name in _listed(driver.get(EXTRA_NAMES, "")):
            return True
        prefixes = (*PREFIXES, *_since(LATER_PREFIXES, self.version), *_listed(driver.get(EXTRA_PREFIXES, "")))
        return name.startswith(prefixes)


def oldest_with(traits: Iterable[str]) -> Version:
    """The first release that has all of these traits, so that its rules are those of the installed sources."""
    return max((FIRST_WITH[trait] for trait in traits if trait in FIRST_WITH), default=(0, 0, 0))


def hand_over(version: Version, driver: Mapping[str, str], excluded: Set[str] = frozenset()) -> HandOver:
    """What a release does; between the two executors the driver's own environment chooses.

    The first (``RayDistributedExecutor``) copies what is on its lists and overwrites; the second (``RayExecutorV2``)
    copies everything and fills gaps only.
    """
    default = "1" if version >= SECOND_EXECUTOR_IS_DEFAULT else "0"
    second = version >= SECOND_EXECUTOR_EXISTS and driver.get(SECOND_EXECUTOR, default).strip() != "0"
    return HandOver(version, everything=second, overwrites=not second, excluded=frozenset(excluded))


def _listed(value: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in value.split(",") if part.strip())


def _since(names: Mapping[str, Version], version: Version) -> tuple[str, ...]:
    return tuple(name for name, since in names.items() if version >= since)


def _known(name: str, names: Mapping[str, Version], version: Version) -> bool:
    return name in _since(names, version)
