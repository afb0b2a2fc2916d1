"""Expected values and thresholds of one kind of hardware, each with the source of its number."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, PositiveFloat, PositiveInt

FOLDER = Path(__file__).parent / "profiles"


class Profile(BaseModel):
    """One file of ``profiles/``; what the checks compare against where nodes are not compared with each other.

    Attributes:
        name: file name without suffix.
        label: printed in capitals wherever a result could be mistaken for one of real machines.
        fabric_mtu: smallest MTU of the fabric NIC, bytes.
        fabric_speed_mbps: link speed that sysfs must give, Mb/s; None where it means nothing (veth).
        pcie_gts: speed of the PCIe link of every fabric NIC, GT/s; None where that differs.
        pcie_lanes: width of that link; None as above.
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

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    label: Literal["EMBEDDED", "SIMULATED"] | None = None
    fabric_mtu: PositiveInt
    fabric_speed_mbps: PositiveInt | None = None
    pcie_gts: PositiveFloat | None = None
    pcie_lanes: PositiveInt | None = None
    hcas_per_port: PositiveInt | None = None
    unified_memory: bool | None = None
    memory_headroom_gib: PositiveFloat
    system_memory_gib: PositiveFloat
    rank_overhead_gib: PositiveFloat
    cuda_graphs_gib: PositiveFloat
    batched_tokens_max: PositiveInt | None = None
    tenant_gib: PositiveFloat
    swap_used_gib: PositiveFloat
    shm_gib: PositiveFloat
    busy_clock_mhz: PositiveInt | None = None
    disk_full_percent: PositiveFloat
    load_s_per_shard: PositiveFloat | None = None
    clock_skew_warn_s: PositiveFloat
    clock_skew_fail_s: PositiveFloat
    roofline_tokens_per_s: PositiveFloat | None = None


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
