"""How NCCL reads NCCL_SOCKET_IFNAME, NCCL_IB_HCA and NCCL_IB_GID_INDEX."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shakedown.engines.nccl import GID_INDEX, Selector, gid_index, parse_transport

HCAS = ("rocep1s0f0", "rocep1s0f1", "roceP2p1s0f1")


@pytest.mark.parametrize(
    ("value", "taken"),
    [
        ("", HCAS),
        ("=", HCAS),
        ("roce", HCAS),
        ("rocep1s0f1,roceP2p1s0f1", HCAS[1:]),
        ("=rocep1s0f", ()),
        ("=rocep1s0f1", HCAS[1:2]),
        ("^rocep1s0f0", HCAS[1:]),
        ("^=rocep1s0f1", (HCAS[0], HCAS[2])),
        ("rocep1s0f1:1", HCAS[1:2]),
        ("rocep1s0f1:2", ()),
        ("rocep1s0f1:1:0:1", HCAS[1:2]),
        ("rocep1s0f1, roceP2p1s0f1", HCAS[1:2]),  # nothing is trimmed
        ("mlx5", ()),
    ],
)
def test_what_a_value_takes(value: str, taken: tuple[str, ...]) -> None:
    selector = Selector.parse(value)
    assert tuple(name for name in HCAS if selector.takes(name, 1)) == taken


@pytest.mark.parametrize(
    ("value", "unmatched"),
    [
        ("rocep1s0f1,mlx5_0", ("mlx5_0",)),
        ("rocep1s0f1:2", ("rocep1s0f1:2",)),
        ("rocep1s0f1, roceP2p1s0f1", (" roceP2p1s0f1",)),
        ("^mlx5_0", ()),
        ("", ()),
    ],
)
def test_names_that_fit_nothing(value: str, unmatched: tuple[str, ...]) -> None:
    assert Selector.parse(value).unmatched((name, 1) for name in HCAS) == unmatched


@pytest.mark.parametrize(
    ("environment", "index"),
    [({}, None), ({GID_INDEX: ""}, None), ({GID_INDEX: "-1"}, None), ({GID_INDEX: "3"}, 3), ({GID_INDEX: "0"}, 0)],
)
def test_gid_index(environment: dict[str, str], index: int | None) -> None:
    assert gid_index(environment) == index


@given(st.text(max_size=30), st.sampled_from(HCAS))
def test_any_text_is_a_value(value: str, name: str) -> None:
    selector = Selector.parse(value)
    if selector.names and not selector.excluding and selector.takes(name, 1):
        assert len(selector.unmatched([(name, 1)])) < len(selector.names)


# Two ranks on one H200 with NCCL 2.28.9, told apart by NCCL_HOSTID so that they do not share the GPU's memory.
SOCKETS = """\
NET/IB : No device found.
NET/IB : Using [RO]; OOB lo:127.0.0.1<0>
NET/Socket : Using [0]lo:127.0.0.1<0>
Using network Socket
Channel 00/0 : 1[0] -> 0[0] [receive] via NET/Socket/0
Channel 00/0 : 0[0] -> 1[0] [send] via NET/Socket/0
"""
# The same of a rank that is alone.
ALONE = "".join(line + "\n" for line in SOCKETS.splitlines() if "Channel" not in line)
# https://github.com/NVIDIA/nccl/blob/v2.28.9-1/src/transport/net_ib.cc and net.cc: forms, filled with GB10's names.
RDMA = """\
NET/IB : Using [0]rocep1s0f1:1/RoCE [1]roceP2p1s0f1:1/RoCE [RO]; OOB enp1s0f1np1:192.168.200.12<0>
Using network IB
Channel 00/0 : 1[0] -> 0[0] [receive] via NET/IB/0
Channel 01/0 : 1[0] -> 0[0] [receive] via NET/IB/1/GDRDMA
"""
MERGED = """\
NET/IB : Using [0]={[0] mlx5_0:1/RoCE, [1] mlx5_1:1/RoCE} [RO]; OOB eth0:10.0.0.1<0>
Using network IB
Channel 00/0 : 0[0] -> 1[0] [send] via NET/IB/0(0)/GDRDMA/Shared
"""


@pytest.mark.parametrize(
    ("said", "network", "hcas", "ways", "by_rdma"),
    [
        (SOCKETS, "Socket", (), ("NET/Socket",), False),
        (ALONE, "Socket", (), (), False),
        (RDMA, "IB", (("rocep1s0f1", 1), ("roceP2p1s0f1", 1)), ("NET/IB",), True),
        (MERGED, "IB", (("mlx5_0", 1), ("mlx5_1", 1)), ("NET/IB",), True),
        (
            RDMA + SOCKETS.splitlines()[-1],
            "IB",
            (("rocep1s0f1", 1), ("roceP2p1s0f1", 1)),
            ("NET/IB", "NET/Socket"),
            False,
        ),
        ("", None, (), (), False),
    ],
)
def test_transport(
    said: str, network: str | None, hcas: tuple[tuple[str, int], ...], ways: tuple[str, ...], by_rdma: bool
) -> None:
    found = parse_transport(said.splitlines())
    assert (found.network, found.hcas, found.ways, found.by_rdma) == (network, hcas, ways, by_rdma)
