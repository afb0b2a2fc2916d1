"""The file systems under the model and under Ray's temporary files, where both run."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from functools import cached_property

from shakedown.errors import EvidenceError
from shakedown.inventory.model import Deployment, Node
from shakedown.nodes.answer import Command, Place
from shakedown.nodes.views.base import View
from shakedown.units import gib

NETWORK_TYPES = ("nfs", "cifs", "smb", "fuse.sshfs", "9p", "ceph", "glusterfs", "lustre", "beegfs", "gpfs", "afs")
"""Beginnings of the types of file systems whose bytes come over a network."""

TEMPORARY = "/tmp"  # noqa: S108 - Ray's own default, read and not written to


@dataclass(frozen=True, slots=True)
class FileSystem:
    """A mounted file system.

    Attributes:
        mount: where.
        type: as the kernel names it.
        size, used, available: bytes; what is reserved for root is in neither of the last two.
    """

    mount: str
    type: str
    size: int
    used: int
    available: int

    @property
    def used_percent(self) -> float:
        """As ``df`` counts it: of what this user could have."""
        usable = self.used + self.available
        return 100 * self.used / usable if usable else 0.0

    @property
    def is_network(self) -> bool:
        """Whether its bytes come over a network."""
        return self.type.startswith(NETWORK_TYPES)

    def __str__(self) -> str:
        return f"{self.mount} ({self.type}), {self.used_percent:.1f} % used, {gib(self.available)} free"


class DisksView(View):
    """File systems as they are seen where Ray and the engine run."""

    @classmethod
    def commands(cls, deployment: Deployment, node: Node) -> tuple[Command, ...]:  # noqa: ARG003 - same for all
        """``df`` of each path by itself, so that a path that is missing does not hide the others."""
        return (_df(deployment),)

    def under(self, path: str) -> FileSystem | None:
        """The file system that holds a path of :meth:`commands`; None if the path is not there."""
        return self._found.get(path)

    @cached_property
    def _found(self) -> dict[str, FileSystem]:
        return parse_df(self._text(_df(self._deployment)))


def _df(deployment: Deployment) -> Command:
    paths = shlex.join([str(deployment.model.path), TEMPORARY])
    text = f"""
for path in {paths}; do
    printf 'path %s\\n' "$path"
    df -PT -B1 "$path" 2>/dev/null | tail -n +2
done
true"""
    return Command(text, Place.ENGINE, key=f"df: {paths}")


def parse_df(text: str) -> dict[str, FileSystem]:
    """Lines ``path PATH``, each followed by ``df``'s line or none -> file systems by path.

    Raises:
        EvidenceError: a line that is none of ``df -PT``.
    """
    found: dict[str, FileSystem] = {}
    path = ""
    for line in text.splitlines():
        if line.startswith("path "):
            path = line.removeprefix("path ")
            continue
        fields = line.split()
        if len(fields) < 7 or not all(number.isdecimal() for number in fields[-5:-2]):
            raise EvidenceError(f"not a line of `df -PT`: {line!r}")
        size, used, available = map(int, fields[-5:-2])
        found[path] = FileSystem(fields[-1], fields[-6], size, used, available)
    return found
