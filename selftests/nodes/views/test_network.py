"""Parsers of `ip` and `ping`: real output, and input nobody thought of."""

from __future__ import annotations

import json
from ipaddress import IPv4Address, IPv4Interface

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shakedown.errors import EvidenceError
from shakedown.nodes.views.links import parse_addresses
from shakedown.nodes.views.network import parse_echo, parse_neighbour
from shakedown.nodes.views.routes import parse_route

LINK = {
    "ifname": "fab0",
    "flags": ["BROADCAST", "MULTICAST", "UP", "LOWER_UP"],
    "mtu": 9000,
    "operstate": "UP",
    "address": "EA:B8:5F:A8:85:4D",
    "addr_info": [
        {"family": "inet", "local": "192.168.200.12", "prefixlen": 24},
        {"family": "inet6", "local": "fe80::1", "prefixlen": 64},
    ],
}
ANSWERED = """\
PING 192.168.200.13 (192.168.200.13) from 192.168.200.12 fab0: 1472(1500) bytes of data.
1480 bytes from 192.168.200.13: icmp_seq=1 ttl=64 time=0.030 ms

--- 192.168.200.13 ping statistics ---
2 packets transmitted, 2 received, 0% packet loss, time 201ms
rtt min/avg/max/mdev = 0.022/0.026/0.030/0.004 ms
"""
UNREACHABLE = """\
PING 192.168.200.13 (192.168.200.13) from 192.168.200.12 fab0: 56(84) bytes of data.
From 192.168.200.12 icmp_seq=1 Destination Host Unreachable

--- 192.168.200.13 ping statistics ---
2 packets transmitted, 0 received, +2 errors, 100% packet loss, time 1020ms
"""


def test_a_nic_is_read_with_its_addresses() -> None:
    nic = parse_addresses(json.dumps([LINK]))["fab0"]
    assert nic.is_up
    assert nic.mac == "ea:b8:5f:a8:85:4d"
    assert nic.addresses == (IPv4Interface("192.168.200.12/24"),)
    assert nic.holds(IPv4Address("192.168.200.12"))
    assert str(nic) == "fab0 is up, carrier, mtu 9000, 192.168.200.12/24"


def test_a_nic_without_carrier_is_not_up() -> None:
    nic = parse_addresses(json.dumps([{**LINK, "flags": ["UP"], "operstate": "LOWERLAYERDOWN"}]))["fab0"]
    assert not nic.is_up


def test_a_driver_that_does_not_tell_is_up_with_a_carrier() -> None:
    assert parse_addresses(json.dumps([{**LINK, "operstate": "UNKNOWN"}]))["fab0"].is_up


def test_the_source_of_the_default_route_is_read() -> None:
    route = parse_route('[{"dst":"8.8.8.8","gateway":"198.18.0.1","dev":"mgt0","prefsrc":"198.18.0.12","uid":0}]')
    assert (route.device, route.source) == ("mgt0", IPv4Address("198.18.0.12"))


@pytest.mark.parametrize("text", ["", "[]", "{}", "[{}]", "null", "[1]", '[{"dev":"a","prefsrc":"x"}]'])
def test_what_is_no_route_is_refused(text: str) -> None:
    with pytest.raises(EvidenceError, match="ip -j route get"):
        parse_route(text)


def test_an_answered_echo_tells_its_size() -> None:
    echo = parse_echo(ANSWERED, "")
    assert (echo.received, echo.size) == (True, 1500)


def test_an_echo_without_answer_tells_why() -> None:
    echo = parse_echo(UNREACHABLE, "")
    assert not echo.received
    assert echo.said == "From 192.168.200.12 icmp_seq=1 Destination Host Unreachable"


def test_an_echo_that_could_not_start_tells_why() -> None:
    echo = parse_echo("", "ping: SO_BINDTODEVICE nosuch: No such device\n")
    assert not echo.received
    assert "No such device" in echo.said


def test_silence_is_no_echo() -> None:
    with pytest.raises(EvidenceError):
        parse_echo("", "")


def test_a_neighbour_that_never_answered_has_no_address() -> None:
    assert parse_neighbour('[{"dst":"192.168.200.13","state":["FAILED"]}]') is None
    assert parse_neighbour("") is None
    assert parse_neighbour('[{"lladdr":"EA:B8:5F:A8:85:4D","state":["REACHABLE"]}]') == "ea:b8:5f:a8:85:4d"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(sorted(LINK)), inner, max_size=4),
    max_leaves=8,
)


@given(json_values)
def test_any_json_is_nics_or_refused(value: object) -> None:
    try:
        nics = parse_addresses(json.dumps(value))
    except EvidenceError:
        return
    assert all(nic.name == name for name, nic in nics.items())


@given(st.text(), st.text())
def test_any_text_is_an_echo_or_refused(stdout: str, stderr: str) -> None:
    try:
        echo = parse_echo(stdout, stderr)
    except EvidenceError:
        return
    assert echo.said


@given(st.integers(0, 65535), st.integers(1, 9), st.integers(0, 9))
def test_every_count_of_a_ping_is_understood(payload: int, sent: int, received: int) -> None:
    text = f"PING a (1.2.3.4) from 1.2.3.5 x: {payload}({payload + 28}) bytes of data.\n\n--- a ping statistics ---\n"
    echo = parse_echo(f"{text}{sent} packets transmitted, {received} received, 0% packet loss\n", "")
    assert echo.received == (received > 0)
    assert echo.size == payload + 28
