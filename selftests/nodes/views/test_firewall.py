"""What becomes of a peer's packet by the rules that nft and iptables list."""

from __future__ import annotations

from ipaddress import IPv4Address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shakedown.nodes.firewall.chains import DEEPEST
from shakedown.nodes.firewall.packet import Packet
from shakedown.nodes.views.firewall import keeps_out

NIC = "enp1s0f1np1"
PACKET = Packet(IPv4Address("192.168.200.13"), IPv4Address("192.168.200.12"), NIC)

DOCKER = """\
table ip filter {
	chain FORWARD {
		type filter hook forward priority filter; policy drop;
		iifname "docker0" oifname "docker0" counter packets 0 bytes 0 drop
		iifname "enp1s0f1np1" drop
	}
	chain INPUT {
		type filter hook input priority filter; policy accept;
	}
	chain DOCKER-USER {
		ip saddr 192.168.200.0/24 drop
	}
}
"""

# As firewalld 1.3 makes it of the zone `public`; only the zone differs for a fabric NIC that was given to `trusted`.
FIREWALLD = """\
table inet firewalld {
	chain filter_INPUT {
		type filter hook input priority filter + 10; policy accept;
		ct state { established, related } accept
		ct status dnat accept
		iifname "lo" accept
		ct state invalid drop
		jump filter_INPUT_ZONES
		reject with icmpx admin-prohibited
	}
	chain filter_INPUT_ZONES {
		iifname "%s" goto filter_IN_trusted
		goto filter_IN_public
	}
	chain filter_IN_trusted {
		jump filter_IN_trusted_pre
		accept
	}
	chain filter_IN_trusted_pre {
	}
	chain filter_IN_public {
		jump filter_IN_public_allow
		meta l4proto { icmp, ipv6-icmp } accept
	}
	chain filter_IN_public_allow {
		tcp dport 22 accept
		ip6 daddr fe80::/64 udp dport 546 accept
	}
}
"""


def table(*rules: str, policy: str = "accept", hook: str = "input") -> str:
    """A table of nft with one chain."""
    lines = "".join(f"\t\t{rule}\n" for rule in rules)
    head = f"\tchain input {{\n\t\ttype filter hook {hook} priority filter; policy {policy};\n"
    return f"table inet filter {{\n{head}{lines}\t}}\n}}\n"


@pytest.mark.parametrize(
    "rules",
    [
        "",
        DOCKER,
        FIREWALLD % NIC,
        table('iifname "enp1s0f1np1" accept', policy="drop"),
        table('iifname { "lo", "enp1s0f1*" } accept', policy="drop"),
        table("ip saddr 192.168.200.0/24 counter packets 5 bytes 300 accept", policy="drop"),
        table("ip saddr { 10.0.0.0/8, 192.168.200.1-192.168.200.99 } tcp dport 1024-65535 accept", policy="drop"),
        table("ct state vmap { established : accept, related : accept, new : accept }", policy="drop"),
        table("ip saddr != 192.168.200.0/24 drop"),
        table("ip saddr 192.168.200.0/24 ip daddr != 192.168.200.12 drop"),
        table("meta length > 1400 drop"),
        table('limit rate 3/minute burst 5 packets tcp dport 22 counter packets 1 bytes 2 log prefix "x" drop'),
        table("tcp dport { 22, 6379 } drop", "udp dport 32768-60999 drop", "icmp type echo-request drop"),
        table("ct state invalid drop", 'iifname != "enp1s0f1np1" drop', "meta nfproto ipv6 drop"),
        table("drop", hook="forward"),
        table("drop", hook="output"),
        "table ip6 filter {\n\tchain input {\n\t\ttype filter hook input priority filter; policy drop;\n\t}\n}\n",
        "-P INPUT DROP\n-A INPUT -s 192.168.200.13/32 -j ACCEPT\n",
        "-P INPUT DROP\n-A INPUT -i enp1s0f1np1 -j ACCEPT\n",
        "-P INPUT DROP\n-N fabric\n-A INPUT -i enp1s0+ -j fabric\n"
        "-A fabric -p tcp -m comment --comment 'ours -j' -j ACCEPT",
        "-P INPUT DROP\n-A INPUT -m iprange --src-range 192.168.200.10-192.168.200.20 -j ACCEPT\n",
        "-P INPUT ACCEPT\n-A INPUT -s 10.0.0.0/8 -j DROP\n",
        "-P INPUT ACCEPT\n-A INPUT ! -s 192.168.200.0/24 -j REJECT --reject-with icmp-port-unreachable\n",
        "-P INPUT ACCEPT\n-P FORWARD DROP\n-A FORWARD -i enp1s0f1np1 -j DROP\n",
        "-P INPUT ACCEPT\n-A INPUT -p tcp -m multiport --dports 22,6379 -j DROP\n-A INPUT -j LOG --log-prefix 'x '\n",
    ],
)
def test_what_lets_the_peers_in(rules: str) -> None:
    fate = keeps_out(rules, PACKET)
    assert (fate.dropped, fate.doubtful) == ((), ())


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        (table(policy="drop"), "chain input: policy drop"),
        (table("ip saddr 192.168.200.0/24 tcp dport 6379 accept", policy="drop"), "policy drop"),
        (table('iifname "enP7s7" accept', policy="drop"), "policy drop"),
        (table("ip saddr 192.168.200.0/24 reject with tcp reset"), "reject with tcp reset"),
        (table("tcp dport != { 22, 6379 } ct state new drop"), "tcp dport != { 22, 6379 } ct state new drop"),
        (table('iifname "enp1s0f1np1" tcp dport != 6379 drop', hook="prerouting"), "tcp dport != 6379 drop"),
        (table("ct state vmap { established : accept, new : drop }"), "vmap"),
        (table("tcp dport { 22,\n\t\t\t 6379 } accept", "reject"), "reject"),
        (FIREWALLD % "enP7s7", "reject with icmpx admin-prohibited"),
        ("-P INPUT DROP\n-A INPUT -p tcp --dport 6379 -s 192.168.200.0/24 -j ACCEPT\n", "-P INPUT DROP"),
        ("-P INPUT ACCEPT\n-A INPUT -s 192.168.0.0/16 -j REJECT\n", "REJECT"),
        ("-P INPUT ACCEPT\n-A INPUT -p tcp -m multiport ! --dports 22,6379 -j DROP\n", "! --dports 22,6379"),
        ("-P INPUT ACCEPT\n-N guard\n-A INPUT -i enp1s0f1np1 -g guard\n-A guard -j DROP\n", "-A guard -j DROP"),
        (DOCKER + table("drop"), "drop"),
    ],
)
def test_what_keeps_the_peers_out(rules: str, said: str) -> None:
    fate = keeps_out(rules, PACKET)
    assert said in "; ".join(fate.dropped)
    assert not fate.doubtful


@pytest.mark.parametrize(
    "rules",
    [
        table("meta mark 0x1 accept", policy="drop"),
        table("ip saddr @blocked drop"),
        table("limit rate over 10/second drop"),
        table("tcp dport 40000-50000 drop"),
        table("fib saddr . iif oif missing drop"),
        table('xt match "recent" drop'),
        table("jump nowhere"),
        "-P INPUT ACCEPT\n-A INPUT -m set --match-set blocked src -j DROP\n",
        "-P INPUT DROP\n-A INPUT -m mark --mark 0x1 -j ACCEPT\n",
    ],
)
def test_what_cannot_be_told(rules: str) -> None:
    fate = keeps_out(rules, PACKET)
    assert fate.doubtful
    assert not fate.dropped


def test_a_named_set_is_looked_into() -> None:
    elements = "\t\telements = { 192.168.200.12,\n\t\t\t     192.168.200.13 }\n"
    sets = f"table ip filter {{\n\tset peers {{\n\t\ttype ipv4_addr\n{elements}\t}}\n"
    chain = "\tchain input {\n\t\ttype filter hook input priority 0; policy drop;\n\t\tip saddr @peers accept\n\t}\n}\n"
    assert not keeps_out(sets + chain, PACKET).dropped
    assert keeps_out(sets.replace("200.13", "200.14") + chain, PACKET).dropped


def test_chains_that_jump_in_a_circle_come_to_an_end() -> None:
    assert DEEPEST < 100
    assert keeps_out("-P INPUT ACCEPT\n-N a\n-A INPUT -j a\n-A a -j a\n", PACKET).doubtful


@given(st.text(alphabet="iptablnfdrocs -!@{}:,/.0123456789\"\n\t\\'", max_size=200))
def test_any_text_is_followed_to_some_end(text: str) -> None:
    keeps_out(table(text, policy="drop") + "-P INPUT DROP\n-A INPUT " + text, PACKET)
