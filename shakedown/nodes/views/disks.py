"""The file systems under the model, under Ray's temporary files, and under all that a launch writes."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from functools import cached_property

from shakedown.errors import EvidenceError
from shakedown.inventory.model import Deployment, Node
from shakedown.nodes import login
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


@dataclass(frozen=True, slots=True)
class Written:
    """A folder into which a launch writes.

    Attributes:
        what: that is written there, in words.
        folder: where, with ``~`` for the home of the login; what is not there yet will be made.
        disk: the file system that it is, or will be, on.
    """

    what: str
    folder: str
    disk: FileSystem

    def __str__(self) -> str:
        return f"{self.what} ({self.folder}) on {self.disk}"


_ROOM = """\
room() { # of the folder $2, for what is called $1: of the nearest one above it that there is
    case $2 in /*) ;; *) return ;; esac
    there=$2
    while [ ! -e "${there:-/}" ]; do there=${there%/*}; done
    case $2 in "$HOME"/*) shown="~${2#"$HOME"}" ;; *) shown=$2 ;; esac
    printf 'path %s\t%s\n' "$1" "$shown"
    df -PT -B1 "${there:-/}" 2>/dev/null | tail -n +2
}
"""

# Sources: vllm/envs.py (VLLM_CACHE_ROOT); triton/knobs.py (TRITON_CACHE_DIR); huggingface_hub/constants.py.
_CACHES = """\
cache=${XDG_CACHE_HOME:-$HOME/.cache}
room 'compiled graphs' "${VLLM_CACHE_ROOT:-$cache/vllm}"
room 'compiled kernels' "${TRITON_CACHE_DIR:-${TRITON_HOME:-$HOME}/.triton/cache}"
hub=${HF_HUB_CACHE:-${HF_HOME:-$cache/huggingface}/hub}
[ ! -d "$hub" ] || room 'files of the hub' "$hub"
"""

_DOCKER = """\
folder=$(docker info -f '{{.DockerRootDir}}' 2>/dev/null) && [ "$folder" ] && room 'images and logs of docker' "$folder"
"""


class DisksView(View):
    """File systems as they are seen where Ray and the engine run; docker's own, and those of a log of the host."""

    @classmethod
    def commands(cls, deployment: Deployment, node: Node) -> tuple[Command, ...]:
        """``df`` of each path by itself, so that a path that is missing does not hide the others."""
        return (_df(deployment), *_written(deployment, node))

    def under(self, path: str) -> FileSystem | None:
        """The file system that holds the model's path or `TEMPORARY`; None if the path is not there."""
        return self._found.get(path)

    @cached_property
    def written(self) -> tuple[Written, ...]:
        """Where a launch writes, as far as the deployment file and the environment of the login tell."""
        texts = [self._text(command) for command in _written(self._deployment, self._node)]
        found = [(path.partition("\t"), disk) for text in texts for path, disk in parse_df(text).items()]
        return tuple(Written(what, folder, disk) for (what, _, folder), disk in found)

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


def _written(deployment: Deployment, node: Node) -> tuple[Command, ...]:
    """One command a place."""
    log = deployment.serve.log if node.role == "head" else None
    room = f"room 'the log of the server' {shlex.quote(str(log.parent))}\n" if log else ""
    inside = deployment.container is None or deployment.serve.log_in == "container"
    caches = login.with_environment(_ROOM + _CACHES + (room if inside else "") + "true", deployment, node)
    commands = [Command(caches, Place.ENGINE, key="df: folders that a launch writes, where it runs")]
    if deployment.container:
        text = _ROOM + _DOCKER + ("" if inside else room) + "true"
        commands.append(Command(text, key="df: folders that a launch writes, on the machine"))
    return tuple(commands)


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
