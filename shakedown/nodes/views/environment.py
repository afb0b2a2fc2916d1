"""The environment that a command gets which is started on a node now, before anything of ours runs there."""

from __future__ import annotations

from functools import cached_property

from shakedown.inventory.model import Deployment, Node
from shakedown.nodes.answer import Command, Place
from shakedown.nodes.views.base import View
from shakedown.nodes.views.ray import KEPT_VARIABLES

_LOGIN = Command(f"env | grep -E '^({KEPT_VARIABLES})' || true", Place.ENGINE)
NOT_FOUND = 2
"""Exit code of ``getent`` for a name that does not resolve; see getent(1)."""

_RESOLVED = Command('getent ahostsv4 "$(uname -n)"', Place.ENGINE)


class EnvironmentView(View):
    """Variables that stand on a node, and what its own name resolves to, where Ray and the engine run."""

    @classmethod
    def commands(cls, deployment: Deployment, node: Node) -> tuple[Command, ...]:  # noqa: ARG003 - same for all
        """The variables that matter to Ray and the engine, none else; and the node's name."""
        return (_LOGIN, _RESOLVED)

    @cached_property
    def login(self) -> dict[str, str]:
        """What ``ray start`` would inherit if it were started over this transport, or in this container."""
        return dict(line.partition("=")[::2] for line in self._text(_LOGIN).splitlines())

    @cached_property
    def own_addresses(self) -> tuple[str, ...]:
        """IPv4 addresses that the node's own name resolves to, each once; empty if it does not resolve.

        Raises:
            EvidenceError: ``getent`` did not run, so nothing is known.
        """
        result = self._result(_RESOLVED)
        if result.rc not in (0, NOT_FOUND):
            self._text(_RESOLVED)
        return tuple(dict.fromkeys(line.split()[0] for line in result.stdout.splitlines() if line.strip()))
