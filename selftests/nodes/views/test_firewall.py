"""Rules as nft and iptables list them, and whether the peers' packets would come through."""

from __future__ import annotations

from ipaddress import IPv4Address

import pytest

from shakedown.nodes.views.firewall import keeps_out

PEERS = (IPv4Address("192.168.200.13"),)
NICS = ("enp1s0f1np1",)

DOCKER = """\
table ip filter {
	chain FORWARD {
		type filter hook forward priority filter; policy drop;
		iifname "docker0" oifname "docker0" counter packets 0 bytes 0 drop
	}
	chain INPUT {
		type filter hook input priority filter; policy accept;
	}
}
"""
CLOSED = """\
table inet filter {
	chain input {
		type filter hook input priority filter; policy drop;
		ct state established,related accept
		tcp dport 22 accept
		%s
	}
}
"""


@pytest.mark.parametrize(
    "rules",
    [
        "",
        DOCKER,
        CLOSED % 'iifname "enp1s0f1np1" accept',
        CLOSED % "ip saddr 192.168.200.0/24 counter packets 5 bytes 300 accept",
        "-P INPUT DROP\n-A INPUT -s 192.168.200.13/32 -j ACCEPT\n",
        "-P INPUT DROP\n-A INPUT -i enp1s0f1np1 -j ACCEPT\n",
        "-P INPUT ACCEPT\n-A INPUT -s 10.0.0.0/8 -j DROP\n",
        "-P INPUT ACCEPT\n-P FORWARD DROP\n",
    ],
)
def test_what_lets_the_peers_in(rules: str) -> None:
    assert keeps_out(rules, PEERS, NICS) == ()


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        (CLOSED % "", "policy drop"),
        (CLOSED % "ip saddr 192.168.200.0/24 tcp dport 6379 accept", "policy drop"),
        (CLOSED % 'iifname "enP7s7" accept', "policy drop"),
        ("-P INPUT DROP\n-A INPUT -p tcp --dport 6379 -s 192.168.200.0/24 -j ACCEPT\n", "-P INPUT DROP"),
        ("-P INPUT ACCEPT\n-A INPUT -s 192.168.0.0/16 -j REJECT\n", "REJECT"),
        (DOCKER + 'iifname "enp1s0f1np1" drop\n', 'iifname "enp1s0f1np1" drop'),
    ],
)
def test_what_keeps_the_peers_out(rules: str, said: str) -> None:
    assert said in "; ".join(keeps_out(rules, PEERS, NICS))
