"""What the next boot of a node will bring back of its network: the files from which its addresses are set."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from shakedown.errors import EvidenceError
from shakedown.inventory.model import Deployment, Node
from shakedown.nodes.advice import AS_ROOT
from shakedown.nodes.answer import Command
from shakedown.nodes.views.base import View

PLACES = (
    "/etc/netplan",
    "/etc/NetworkManager/system-connections",
    "/etc/systemd/network",
    "/etc/network/interfaces",
    "/etc/network/interfaces.d",
    "/etc/sysconfig/network-scripts",
)
"""Of netplan, NetworkManager, systemd-networkd, ifupdown, and NetworkManager's older form."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The files of all these programs.

    Attributes:
        naming: those in which the node's fabric address stands.
        others: those in which it does not.
        closed: those that this user may not read.
    """

    naming: tuple[str, ...]
    others: tuple[str, ...]
    closed: tuple[str, ...]


class BootView(View):
    """The network after the next boot of one machine."""

    @classmethod
    def commands(cls, deployment: Deployment, node: Node) -> tuple[Command, ...]:  # noqa: ARG003 - same for all
        """One look into all files; their contents, which hold passwords of Wi-Fi, do not leave the node."""
        return (_look(node),)

    @cached_property
    def settings(self) -> Settings:
        """Where the fabric address is kept.

        Raises:
            EvidenceError: it stands in no file that this user may read, and there are others.
        """
        found = parse_settings(self._text(_look(self._node)))
        if found.closed and not found.naming:
            raise EvidenceError(
                f"whether {self._node.fabric_address} is kept on {self._node.name} stands in files that this user may "
                f"not read: {', '.join(found.closed)}",
                AS_ROOT,
            )
        return found


def _look(node: Node) -> Command:
    return Command(
        f"""\
for place in {" ".join(PLACES)}; do
    [ -e "$place" ] || continue
    [ -r "$place" ] || echo "closed $place"
    find -L "$place" -type f 2>/dev/null | while IFS= read -r file; do
        if [ ! -r "$file" ]; then echo "closed $file"
        elif grep -qwF {node.fabric_address} "$file"; then echo "naming $file"
        else echo "other $file"
        fi
    done
done
true""",
        key="files that keep the fabric address",
    )


def parse_settings(text: str) -> Settings:
    """Lines ``naming FILE``, ``other FILE``, ``closed FILE`` -> files by what they are."""
    lines = [line.partition(" ")[::2] for line in text.splitlines()]
    naming, others, closed = (
        tuple(file for word, file in lines if word == kind) for kind in ("naming", "other", "closed")
    )
    return Settings(naming, others, closed)
