"""Expected values and thresholds of one kind of hardware, each with the source of its number."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, PositiveFloat, PositiveInt

FOLDER = Path(__file__).parent / "profiles"
DEFAULT = "generic-pair"


class Expect(BaseModel):
    """Expected values and thresholds, each of which may be left out: ``[expect]`` of a deployment file.

    Attributes:
        fabric_mtu: smallest MTU of the fabric NIC, bytes.
        fabric_speed_mbps: link speed that sysfs must give, Mb/s; None where it means nothing (veth).
        pcie_gts: speed of the PCIe link of every fabric NIC, GT/s; None where that differs.
        pcie_lanes: width of that link; None as above.
        collective_gbytes_per_s: bus bandwidth of a large sum over all nodes below which something is wrong, GB/s; None
            where that is not known.
        hcas_per_port: RDMA devices that one port of the fabric adapter is; None where that differs.
        unified_memory: whether CPU and accelerators share one memory; None where nvidia-smi is to tell.
        memory_headroom_gib: memory that must stay free on a node at the worst moment of a start, GiB.
        system_memory_gib: what operating system and driver hold of the accelerator's memory when nothing runs, GiB.
        rank_overhead_gib: what a rank takes beyond its share: its process, CUDA context, NCCL, Ray's daemons; GiB.
        cuda_graphs_gib: what the CUDA graphs of a rank take, GiB.
        batched_tokens_max: largest ``max_num_batched_tokens`` that is not reported; None for any.
        tenant_gib: memory of a process that is none of Ray or the engine, from which on it is reported, GiB.
        swap_used_gib: swap in use that is reported, GiB.
        shm_gib: smallest size of ``/dev/shm`` where Ray and the engine run, GiB.
        busy_clock_mhz: SM clock below which a busy GPU is not at its speed, MHz; None where it depends.
        disk_full_percent: use of Ray's file system from which on Ray refuses to write, per cent.
        load_s_per_shard: time a shard of the usual size takes to load, s; None where that is not known.
        clock_skew_warn_s: difference between the clocks of two nodes that is reported, s.
        clock_skew_fail_s: difference between the clocks of two nodes that fails, s.
        roofline_tokens_per_s: rate of a single stream that the hardware cannot exceed with any model it is meant for,
            tokens/s; None where it depends on the model (then ``model.roofline_tokens_per_s`` may give it).
    """

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    fabric_mtu: PositiveInt | None = None
    fabric_speed_mbps: PositiveInt | None = None
    pcie_gts: PositiveFloat | None = None
    pcie_lanes: PositiveInt | None = None
    collective_gbytes_per_s: PositiveFloat | None = None
    hcas_per_port: PositiveInt | None = None
    unified_memory: bool | None = None
    memory_headroom_gib: PositiveFloat | None = None
    system_memory_gib: PositiveFloat | None = None
    rank_overhead_gib: PositiveFloat | None = None
    cuda_graphs_gib: PositiveFloat | None = None
    batched_tokens_max: PositiveInt | None = None
    tenant_gib: PositiveFloat | None = None
    swap_used_gib: PositiveFloat | None = None
    shm_gib: PositiveFloat | None = None
    busy_clock_mhz: PositiveInt | None = None
    disk_full_percent: PositiveFloat | None = None
    load_s_per_shard: PositiveFloat | None = None
    clock_skew_warn_s: PositiveFloat | None = None
    clock_skew_fail_s: PositiveFloat | None = None
    roofline_tokens_per_s: PositiveFloat | None = None


class Profile(Expect):
    """One file of ``profiles/``; what the checks compare against where nodes are not compared with each other.

    What stands below without a default holds for any hardware, so every profile gives it.

    Attributes:
        name: file name without suffix.
        label: printed in capitals wherever a result could be mistaken for one of real machines.
        overridden: names of the values that are not the profile's own.
        overridden_in: the deployment file that gave them.
    """

    name: str
    label: Literal["EMBEDDED", "SIMULATED"] | None = None
    overridden: tuple[str, ...] = ()
    overridden_in: str = ""

    fabric_mtu: PositiveInt
    memory_headroom_gib: PositiveFloat
    system_memory_gib: PositiveFloat
    rank_overhead_gib: PositiveFloat
    cuda_graphs_gib: PositiveFloat
    tenant_gib: PositiveFloat
    swap_used_gib: PositiveFloat
    shm_gib: PositiveFloat
    disk_full_percent: PositiveFloat
    clock_skew_warn_s: PositiveFloat
    clock_skew_fail_s: PositiveFloat

    def with_values(self, expect: Expect, file: str) -> Profile:
        """This profile with the values that a deployment file gives instead of its own.

        Args:
            expect: of the file; what it leaves out stays.
            file: its name, for messages.
        """
        given = expect.model_dump(exclude_none=True)
        return self.model_copy(update={**given, "overridden": tuple(given), "overridden_in": file}) if given else self

    def origin(self, *names: str) -> str:
        """Where values come from, for what a finding expected: the profile, or the file that overrides one of them."""
        of_file = any(name in self.overridden for name in names)
        return f"overridden in {self.overridden_in}" if of_file else f"profile {self.name}"


@cache
def profile_names() -> tuple[str, ...]:
    """Names of all profiles that come with the suite, sorted."""
    return tuple(sorted(file.stem for file in FOLDER.glob("*.toml")))


@cache
def load_profile(name: str) -> Profile:
    """The profile of that name; KeyError if there is none (see `profile_names`)."""
    if name not in profile_names():
        raise KeyError(name)
    text = (FOLDER / f"{name}.toml").read_text(encoding="utf-8")
    return Profile.model_validate({"name": name, **tomllib.loads(text)})


def profile_of(document: dict[str, Any]) -> Profile:
    """The profile that a parsed deployment file names; the default one where the name is wrong or missing."""
    section = document.get("deployment")
    name = section.get("profile") if isinstance(section, dict) else None
    return load_profile(name if name in profile_names() else DEFAULT)
