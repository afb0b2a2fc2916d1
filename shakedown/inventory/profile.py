"""Expected values and thresholds of one kind of hardware, each with the source of its number."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, PositiveFloat, PositiveInt


class Profile(BaseModel):
    """One file of ``profiles/``; what the checks compare against where nodes are not compared with each other.

    Attributes:
        name: file name without suffix.
        label: printed in capitals wherever a result could be mistaken for one of real machines.
        fabric_mtu: smallest MTU of the fabric NIC, bytes.
        fabric_speed_mbps: link speed that sysfs must give, Mb/s; None where it means nothing (veth).
        memory_headroom_gib: memory that must be available before a launch beyond the weights of one rank, GiB.
        clock_skew_warn_s, clock_skew_fail_s: between nodes, s.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    label: Literal["EMBEDDED", "SIMULATED"] | None = None
    fabric_mtu: PositiveInt = 1500
    fabric_speed_mbps: PositiveInt | None = None
    memory_headroom_gib: PositiveFloat = 8.0
    clock_skew_warn_s: PositiveFloat = 1.0
    clock_skew_fail_s: PositiveFloat = 5.0
    roofline_tokens_per_s: PositiveFloat | None = None
