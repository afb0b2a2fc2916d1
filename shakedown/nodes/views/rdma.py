"""The RDMA devices (HCAs) of one machine: ports, GIDs, and whether the engine can open them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from ipaddress import IPv4Address, IPv6Address

from shakedown.errors import EvidenceError
from shakedown.inventory.model import Deployment, Node
from shakedown.nodes.answer import Command, Place
from shakedown.nodes.views.base import View
from shakedown.nodes.views.links import by_device

ROCE_2 = "RoCE v2"
"""The type of the GIDs that NCCL sends with, as ``gid_attrs/types`` names it."""

ACTIVE = "ACTIVE"
NO_SUCH_FILE = (1, 2)
"""Exit codes of ``ls`` for a path that is not there: BusyBox, GNU."""

DEVICES = Command(
    """\
cd /sys/class/infiniband 2>/dev/null || exit 0
grep -sH . */fw_ver */ports/*/state */ports/*/link_layer \\
    */ports/*/gids/* */ports/*/gid_attrs/types/* */ports/*/gid_attrs/ndevs/* \\
    */ports/*/counters/link_downed */ports/*/counters/symbol_error */ports/*/counters/port_rcv_errors \\
    */ports/*/hw_counters/out_of_sequence */ports/*/hw_counters/packet_seq_err \\
    */ports/*/hw_counters/local_ack_timeout_err */ports/*/hw_counters/rnr_nak_retry_err |
    grep -v '\\(:0000\\)\\{8\\}$'
true""",
    key="RDMA devices in /sys/class/infiniband",
)
"""Counters stand in it that grow: asked again, they tell by how much."""

_NODES = Command("ls /dev/infiniband", Place.ENGINE)
_LIBRARY = Command("ldconfig -p | grep -F libibverbs.so.1 || true", Place.ENGINE)


@dataclass(frozen=True, slots=True)
class Gid:
    """One entry of a port's table of addresses.

    Attributes:
        index: by which `NCCL_IB_GID_INDEX` would choose it.
        value: the address.
        kind: ``RoCE v2``, ``IB/RoCE v1``.
        nic: the NIC it belongs to; None where the kernel does not tell.
    """

    index: int
    value: IPv6Address
    kind: str
    nic: str | None

    @property
    def ipv4(self) -> IPv4Address | None:
        """The IPv4 address of a RoCE v2 entry that stands for one: what NCCL takes by itself."""
        return self.value.ipv4_mapped if self.kind == ROCE_2 else None

    def __str__(self) -> str:
        return f"{self.index} is {self.value.ipv4_mapped or self.value} ({self.kind or 'of no type'})"


@dataclass(frozen=True, slots=True)
class Port:
    """One port of an HCA.

    Attributes:
        hca: name of the device.
        number: from 1.
        state: ``ACTIVE``, ``DOWN``, ``INIT``, ``ARMED``.
        ethernet: it speaks RoCE, not InfiniBand.
        gids: its table, without empty entries.
        counters: ``link_downed``, ``symbol_error``, ``port_rcv_errors`` since the device was started.
        repeats: of the protocol, as ``out_of_sequence``; some are no fault, many under load are.
    """

    hca: str
    number: int
    state: str
    ethernet: bool
    gids: tuple[Gid, ...]
    counters: Mapping[str, int]
    repeats: Mapping[str, int]

    @property
    def active(self) -> bool:
        """NCCL uses no other ones."""
        return self.state == ACTIVE

    def gid(self, index: int) -> Gid | None:
        """The entry at an index; None where it is empty."""
        return next((gid for gid in self.gids if gid.index == index), None)

    @property
    def nics(self) -> frozenset[str]:
        """The NICs that its table names."""
        return frozenset(gid.nic for gid in self.gids if gid.nic)

    def __str__(self) -> str:
        return f"{self.hca}:{self.number} {self.state}"


class RdmaView(View):
    """RDMA on one node; without any device all tables are empty."""

    @classmethod
    def commands(cls, deployment: Deployment, node: Node) -> tuple[Command, ...]:  # noqa: ARG003 - same for all
        """One command reads all devices; two look from where the engine runs."""
        return (DEVICES, _NODES, _LIBRARY)

    @cached_property
    def ports(self) -> tuple[Port, ...]:
        """Every port of every HCA."""
        return parse_ports(self._text(DEVICES))

    @property
    def active(self) -> tuple[Port, ...]:
        """The ports with a link."""
        return tuple(port for port in self.ports if port.active)

    @property
    def hcas(self) -> tuple[str, ...]:
        """Names of all HCAs."""
        return tuple(dict.fromkeys(port.hca for port in self.ports))

    @cached_property
    def firmware(self) -> dict[str, str]:
        """Version by HCA."""
        files = by_device(self._text(DEVICES))
        return {hca: content["fw_ver"] for hca, content in files.items() if "fw_ver" in content}

    @cached_property
    def openable(self) -> tuple[str, ...]:
        """The device files (``uverbs0``, ...) where the engine runs; empty without any.

        Raises:
            EvidenceError: they cannot be listed.
        """
        if self._result(_NODES).rc in NO_SUCH_FILE:
            return ()
        return tuple(name for name in self._text(_NODES).split() if name.startswith("uverbs"))

    @cached_property
    def has_library(self) -> bool:
        """Whether the loader knows libibverbs where the engine runs: NCCL opens it by that name."""
        return bool(self._text(_LIBRARY).strip())


def parse_ports(text: str) -> tuple[Port, ...]:
    """Lines ``HCA/FILE:CONTENT`` of sysfs -> ports, by HCA and number.

    Raises:
        EvidenceError: a GID that is no address.
    """
    ports = []
    for hca, files in sorted(by_device(text).items()):
        numbers = {int(found[1]) for file in files if (found := re.match(r"ports/(\d+)/state$", file))}
        ports += [_port(hca, number, files) for number in sorted(numbers)]
    return tuple(ports)


def _port(hca: str, number: int, files: Mapping[str, str]) -> Port:
    own = {
        file.removeprefix(f"ports/{number}/"): text
        for file, text in files.items()
        if file.startswith(f"ports/{number}/")
    }
    return Port(
        hca=hca,
        number=number,
        state=own["state"].rpartition(" ")[2],
        ethernet=own.get("link_layer") == "Ethernet",
        gids=tuple(sorted(_gids(own), key=lambda gid: gid.index)),
        counters=_counters(own, "counters/"),
        repeats=_counters(own, "hw_counters/"),
    )


def _counters(files: Mapping[str, str], folder: str) -> dict[str, int]:
    """Those that are told: a device without them says ``N/A (no PMA)`` (Linux, drivers/infiniband/core/sysfs.c)."""
    return {
        file.removeprefix(folder): int(text)
        for file, text in files.items()
        if file.startswith(folder) and text.isdecimal()
    }


def _gids(files: Mapping[str, str]) -> list[Gid]:
    try:
        return [
            Gid(
                index=int(index),
                value=IPv6Address(text),
                kind=files.get(f"gid_attrs/types/{index}", ""),
                nic=files.get(f"gid_attrs/ndevs/{index}"),
            )
            for file, text in files.items()
            for index in (file.removeprefix("gids/"),)
            if file.startswith("gids/")
        ]
    except ValueError as error:
        raise EvidenceError(f"not a table of GIDs: {error}") from error
