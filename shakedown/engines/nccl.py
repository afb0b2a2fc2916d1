"""How NCCL reads the variables that choose NICs and RDMA devices.

Source: https://github.com/NVIDIA/nccl, src/misc/utils.cc (parseStringList, matchIfList), src/misc/socket.cc and
src/transport/net_ib/{init,connect}.cc, src/transport/net.cc (its lines of NCCL_DEBUG=INFO); https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

NICS = "NCCL_SOCKET_IFNAME"
HCAS = "NCCL_IB_HCA"
GID_INDEX = "NCCL_IB_GID_INDEX"

OWN_TO_EACH = frozenset({NICS, HCAS, GID_INDEX, "NCCL_HOSTID", "NCCL_DEBUG_FILE", "NCCL_TOPO_FILE"})
"""Variables that may well differ between nodes; all others of NCCL must be equal on all ranks."""

UNSET_INDEX = -1
"""Value of `GID_INDEX` with which NCCL chooses by itself, as it does where the variable is not set (2.21 and newer)."""


@dataclass(frozen=True, slots=True)
class Selector:
    """A value of `NICS` or `HCAS`, as NCCL parses it: names at commas, without trimming.

    Attributes:
        names: names or prefixes, each with a port number, or None where any port will do.
        excluding: what fits is left out, not taken.
        exact: names are whole, not prefixes.
    """

    names: tuple[tuple[str, int | None], ...]
    excluding: bool
    exact: bool

    @classmethod
    def parse(cls, value: str) -> Selector:
        """Read a value; one without any name takes everything."""
        excluding = value.startswith("^")
        rest = value[1:] if excluding else value
        exact = rest.startswith("=")
        parts = (part.split(":") for part in rest.removeprefix("=").split(","))
        names = tuple((part[0], _port(part[1:])) for part in parts if part[0])
        return cls(names, excluding, exact)

    def takes(self, name: str, port: int | None = None) -> bool:
        """Whether NCCL may use a NIC or a port of a device."""
        if not self.names:
            return not self.excluding
        return any(self._fits(one, name, port) for one in self.names) != self.excluding

    def unmatched(self, there: Iterable[tuple[str, int | None]]) -> tuple[str, ...]:
        """The names to take that fit nothing of what is there: devices with their ports, or NICs without."""
        known = tuple(there)
        if self.excluding:
            return ()
        return tuple(
            name if wanted is None else f"{name}:{wanted}"
            for name, wanted in self.names
            if not any(self._fits((name, wanted), *one) for one in known)
        )

    def _fits(self, wanted: tuple[str, int | None], name: str, port: int | None) -> bool:
        prefix, number = wanted
        named = name == prefix if self.exact else name.startswith(prefix)
        return named and (number is None or port is None or number == port)


def _port(fields: list[str]) -> int | None:
    found = re.match(r"-?\d+", fields[0]) if fields else None
    return int(found.group()) if found and int(found.group()) != -1 else None


def gid_index(environment: Mapping[str, str]) -> int | None:
    """The index that NCCL is told to use on every device; None where it chooses by itself."""
    found = re.match(r"\s*(-?\d+)", environment.get(GID_INDEX, ""))
    index = int(found.group(1)) if found else UNSET_INDEX
    return None if index < 0 else index


@dataclass(frozen=True, slots=True)
class Transport:
    """By what a communicator sends to other nodes, in NCCL's own words.

    Attributes:
        network: ``IB``, ``Socket`` or the name of a plugin; None where NCCL did not get so far.
        hcas: devices and ports that it opened for RDMA.
        ways: of the channels to other nodes, each once: ``NET/IB``, ``NET/Socket``; none where there is one rank only.
    """

    network: str | None
    hcas: tuple[tuple[str, int], ...]
    ways: tuple[str, ...]

    @property
    def by_rdma(self) -> bool:
        """Whether all channels to other nodes are RDMA."""
        return self.network not in (None, "Socket") and self.ways != () and "NET/Socket" not in self.ways

    def __str__(self) -> str:
        opened = ", ".join(f"{name}:{port}" for name, port in self.hcas) or "none"
        return (
            f"network {self.network or 'unknown'}, channels via {', '.join(self.ways) or 'none'}, HCAs opened: {opened}"
        )


def parse_transport(lines: Iterable[str]) -> Transport:
    """Lines of ``NCCL_DEBUG=INFO``, of the subsystems INIT and NET -> transport."""
    text = "\n".join(lines)
    networks = re.findall(r"\bUsing network (\S+)", text)
    opened = re.findall(r"NET/IB : Using(.*)", text)
    hcas = re.findall(r"([\w.-]+):(\d+)/(?:RoCE|IB)\b", " ".join(opened))
    ways = re.findall(r"\bvia (NET/[^/\s]+)", text)
    return Transport(
        network=networks[-1] if networks else None,
        hcas=tuple(dict.fromkeys((name, int(port)) for name, port in hcas)),
        ways=tuple(dict.fromkeys(ways)),
    )
