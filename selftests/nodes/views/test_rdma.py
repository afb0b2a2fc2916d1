"""Parsers of sysfs: RDMA ports with their GIDs, adapters of NICs, settings of IPv4."""

from __future__ import annotations

from ipaddress import IPv4Address

import pytest

from shakedown.errors import EvidenceError
from shakedown.nodes.views.links import Adapter, parse_adapters
from shakedown.nodes.views.rdma import parse_ports
from shakedown.nodes.views.routes import parse_settings

DEVICES = """\
rocep1s0f1/fw_ver:28.45.4028
rocep1s0f1/ports/1/state:4: ACTIVE
rocep1s0f1/ports/1/link_layer:Ethernet
rocep1s0f1/ports/1/gids/0:fe80:0000:0000:0000:0200:5eff:fe00:530a
rocep1s0f1/ports/1/gids/10:0000:0000:0000:0000:0000:ffff:c0a8:c80c
rocep1s0f1/ports/1/gids/2:0000:0000:0000:0000:0000:ffff:c0a8:c80c
rocep1s0f1/ports/1/gid_attrs/types/0:RoCE v2
rocep1s0f1/ports/1/gid_attrs/types/2:IB/RoCE v1
rocep1s0f1/ports/1/gid_attrs/types/10:RoCE v2
rocep1s0f1/ports/1/gid_attrs/ndevs/10:enp1s0f1np1
rocep1s0f1/ports/1/counters/link_downed:2
mlx5_0/ports/1/state:1: DOWN
"""


def test_ports_and_their_gids() -> None:
    down, active = parse_ports(DEVICES)
    assert (down.hca, down.active, down.gids) == ("mlx5_0", False, ())
    assert active.active
    assert active.ethernet
    assert active.nics == {"enp1s0f1np1"}
    assert [gid.index for gid in active.gids] == [0, 2, 10]
    assert [gid.ipv4 for gid in active.gids] == [None, None, IPv4Address("192.168.200.12")]
    assert active.gid(3) is None
    assert active.counters == {"link_downed": 2}
    assert str(active.gid(10)) == "10 is 192.168.200.12 (RoCE v2)"


def test_a_machine_without_rdma_has_no_ports() -> None:
    assert parse_ports("") == ()


def test_what_is_no_gid_is_refused() -> None:
    with pytest.raises(EvidenceError, match="GIDs"):
        parse_ports("mlx5_0/ports/1/state:4: ACTIVE\nmlx5_0/ports/1/gids/0:nothing\n")


def test_adapters() -> None:
    text = (
        "enp1s0f1np1/carrier_changes:3\nenp1s0f1np1/statistics/rx_crc_errors:7\n"
        "enp1s0f1np1/statistics/rx_packets:912\n"
        "enp1s0f1np1/device/current_link_speed:32.0 GT/s PCIe\nenp1s0f1np1/device/current_link_width:4\n"
        "fab0/carrier_changes:2\nwlP9s9/phy80211:yes\nusb0/device/current_link_speed:Unknown\n"
    )
    found = parse_adapters(text)
    assert found["enp1s0f1np1"] == Adapter(32.0, 4, False, 3, 912, {"statistics/rx_crc_errors": 7})
    assert found["fab0"].pcie_gts is None
    assert found["usb0"].pcie_gts is None
    assert found["wlP9s9"].wireless
    assert not found["fab0"].wireless


def test_the_stricter_of_two_settings_holds() -> None:
    found = parse_settings("all/rp_filter:2\ndefault/rp_filter:1\nfab0/rp_filter:1\nfab0/arp_ignore:1\n")
    assert list(found) == ["fab0"]
    assert str(found["fab0"]) == "rp_filter=2 arp_ignore=1 arp_announce=0"
    with pytest.raises(EvidenceError, match="no settings"):
        parse_settings("")
