"""How NCCL reads NCCL_SOCKET_IFNAME, NCCL_IB_HCA and NCCL_IB_GID_INDEX."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shakedown.engines.nccl import GID_INDEX, Selector, gid_index

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
