"""The environment that a command gets which is started on a node now, before anything of ours runs there."""

from __future__ import annotations

import json
from functools import cached_property

from shakedown.inventory.model import Deployment, Node
from shakedown.nodes.answer import Command, Place
from shakedown.nodes.views.base import View
from shakedown.nodes.views.raylet import KEPT_VARIABLES

_LOGIN = Command(f"env | grep -E '^({KEPT_VARIABLES})' || true", Place.ENGINE)
NOT_FOUND = 2
"""Exit code of ``getent`` for a name that does not resolve; see getent(1)."""

_NOT_HANDED_OVER = Command(
    'file="${VLLM_CONFIG_ROOT:-${XDG_CONFIG_HOME:-$HOME/.config}/vllm}/ray_non_carry_over_env_vars.json"; '
    '[ ! -e "$file" ] || cat "$file"',
    Place.ENGINE,
    key="ray_non_carry_over_env_vars.json of the engine's user",
)
"""Source of the path: VLLM_CONFIG_ROOT in vllm/envs.py, and vllm/ray/ray_env.py, of 0.17.1 and 0.32.0."""

_RESOLVED = Command('getent ahostsv4 "$(uname -n)"', Place.ENGINE)


class EnvironmentView(View):
    """Variables that stand on a node, or are kept from its workers, and what its own name resolves to."""

    @classmethod
    def commands(cls, deployment: Deployment, node: Node) -> tuple[Command, ...]:  # noqa: ARG003 - same for all
        """The variables that matter to Ray and the engine, none else; the node's name; and vLLM's own file."""
        return (_LOGIN, _RESOLVED, _NOT_HANDED_OVER)

    @cached_property
    def login(self) -> dict[str, str]:
        """What ``ray start`` would inherit if it were started over this transport, or in this container."""
        return dict(line.partition("=")[::2] for line in self._text(_LOGIN).splitlines())

    @cached_property
    def not_handed_over(self) -> frozenset[str]:
        """Names that a server started here would hand to no worker; empty without the file, or where it is no JSON.

        vLLM takes a file that it cannot parse for an empty one.
        """
        text = self._text(_NOT_HANDED_OVER)
        try:
            return frozenset(map(str, json.loads(text))) if text.strip() else frozenset()
        except ValueError:
            return frozenset()

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
