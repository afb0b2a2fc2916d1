"""Parsers of one command each."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shakedown.engines.vllm.environment import gloo_nics
from shakedown.errors import EvidenceError
from shakedown.inventory.load import load_deployment
from shakedown.nodes.views import boot
from shakedown.nodes.views.boot import parse_settings
from shakedown.nodes.views.links import parse_addresses
from shakedown.nodes.views.memory import parse_meminfo
from shakedown.nodes.views.platform import parse_clock
from shakedown.nodes.views.processes import Listener, parse_listeners
from shakedown.simulator.deployment import FILE


def test_meminfo_is_bytes() -> None:
    info = parse_meminfo("MemTotal:       24684092 kB\nHugePages_Total:       3\nMemAvailable:   15900596 kB\n")
    assert info == {"MemTotal": 24684092 * 1024, "HugePages_Total": 3, "MemAvailable": 15900596 * 1024}


def test_listeners_are_read_with_their_owners() -> None:
    text = (
        'LISTEN 0      4096                         *:6379        *:*    users:(("gcs_server",pid=25,fd=10))\n'
        'LISTEN 0      2048       0.0.0.0:30000 0.0.0.0:* users:(("python",pid=7,fd=21),("python",pid=9,fd=21))\n'
        "LISTEN 0      128          [::1]:631       [::]:*\n"
        "ESTAB  0      0      10.0.0.1:22 10.0.0.2:5555\n"
    )
    assert [(one.address, one.port, one.owners) for one in parse_listeners(text)] == [
        ("*", 6379, ("gcs_server (25)",)),
        ("0.0.0.0", 30000, ("python (7)", "python (9)")),
        ("[::1]", 631, ()),
    ]


def test_an_owner_that_may_not_be_known_is_said_so() -> None:
    (listener,) = parse_listeners("LISTEN 0 128 0.0.0.0:30000 0.0.0.0:*\n")
    assert str(listener) == "0.0.0.0:30000 by a process of another user"


def sockets(*lines: str) -> list[Listener]:
    """Sockets on port 80, each as ``ADDRESS OWNER``."""
    return [
        Listener(address, 80, (owner,) if owner else ())
        for address, _, owner in (line.partition(" ") for line in lines)
    ]


@pytest.mark.parametrize(
    ("one", "other", "compete"),
    [
        ("0.0.0.0 python (7)", "0.0.0.0 python (9)", True),
        ("0.0.0.0 python (7)", "0.0.0.0 python (7)", False),
        ("0.0.0.0 docker-proxy (7)", "[::] docker-proxy (9)", False),
        ("0.0.0.0 python (7)", "* python (9)", True),
        ("[::] python (7)", "* python (9)", True),
        ("127.0.0.1 python (7)", "10.0.0.1 nginx (9)", False),
        ("127.0.0.1 python (7)", "0.0.0.0 nginx (9)", True),
        ("[::ffff:10.0.0.1] python (7)", "[::] nginx (9)", False),
        ("0.0.0.0", "[::]", False),
    ],
)
def test_two_sockets_compete_for_one_family_and_address(one: str, other: str, *, compete: bool) -> None:
    a, b = sockets(one, other)
    assert a.competes_with(b) is compete
    assert b.competes_with(a) is compete


def test_whether_unknown_owners_compete_is_not_guessed() -> None:
    a, b = sockets("0.0.0.0", "0.0.0.0 python (7)")
    with pytest.raises(EvidenceError, match="sudo = true"):
        a.competes_with(b)


@pytest.mark.parametrize(
    ("value", "nics"),
    [
        (None, ()),
        ("", ()),
        ("x", ()),
        ("fab0", ("fab0",)),
        ("fab0,fab1", ("fab0", "fab1")),
        ("fab0,", ("fab0",)),
        ("fab0, fab1", ("fab0", " fab1")),
        ("^lo", ("^lo",)),
    ],
)
def test_gloos_nics_are_split_as_pytorch_does(value: str | None, nics: tuple[str, ...]) -> None:
    assert gloo_nics(value) == nics


@given(st.floats(1e9, 2e9), st.floats(-100, 100), st.floats(0, 5), st.floats(0, 5))
def test_the_true_skew_lies_within_the_uncertainty(asked: float, skew: float, there: float, back: float) -> None:
    """Whatever the two ways take, the node's clock was read between them."""
    clock = parse_clock(f"{asked + there + skew:.9f}\n", asked, asked + there + back)
    assert abs(clock.ahead_s - skew) <= clock.uncertainty_s + 1e-5


@pytest.mark.parametrize("text", ["", "1796094585.N", "tomorrow", "-1.5"])
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(EvidenceError):
        parse_clock(text, 0, 1)


@given(st.text())
def test_any_text_gives_listeners_or_none(text: str) -> None:
    assert all(listener.port >= 0 for listener in parse_listeners(text))


def test_files_by_whether_they_keep_the_address() -> None:
    settings = parse_settings("naming /etc/netplan/40 cx7.yaml\nother /etc/netplan/01.yaml\nclosed /etc/50\n")
    assert settings.naming == ("/etc/netplan/40 cx7.yaml",)
    assert settings.others == ("/etc/netplan/01.yaml",)
    assert settings.closed == ("/etc/50",)


def test_the_whole_address_is_looked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """192.168.200.12 stands in 192.168.200.123 and is another."""
    monkeypatch.setattr(boot, "PLACES", (str(tmp_path / "netplan"), str(tmp_path / "none")))
    (tmp_path / "netplan").mkdir()
    (tmp_path / "netplan/a.yaml").write_text("addresses: [192.168.200.12/24]\n")
    (tmp_path / "netplan/b.yaml").write_text("addresses: [192.168.200.123/24]\n")
    deployment = load_deployment(FILE)
    (command,) = boot.BootView.commands(deployment, deployment.head)
    said = subprocess.run(["sh", "-c", command.text], capture_output=True, text=True, check=True)
    assert sorted(said.stdout.split()[::2]) == ["naming", "other"]


def test_an_address_that_was_lent_is_told_from_one_that_is_kept() -> None:
    infos = [
        {"family": "inet", "local": "192.168.200.12", "prefixlen": 24, "dynamic": True},
        {"family": "inet", "local": "192.168.201.12", "prefixlen": 24},
        {"family": "inet6", "local": "fe80::1", "prefixlen": 64, "dynamic": True},
    ]
    nics = parse_addresses(json.dumps([{"ifname": "fab0", "mtu": 9000, "addr_info": infos}]))
    assert [str(address) for address in nics["fab0"].lent] == ["192.168.200.12"]
    assert len(nics["fab0"].addresses) == 2
