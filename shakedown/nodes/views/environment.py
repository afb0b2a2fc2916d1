"""The environment that a command gets which is started on a node now, before anything of ours runs there."""

from __future__ import annotations

import json
from functools import cached_property

from shakedown.inventory.model import Deployment, Node
from shakedown.nodes import login
from shakedown.nodes.answer import Command, Place
from shakedown.nodes.views.base import View
from shakedown.nodes.views.raylet import KEPT_VARIABLES

_KEPT = f"env | grep -E '^({KEPT_VARIABLES})' || true"
NOT_FOUND = 2
"""Exit code of ``getent`` for a name that does not resolve; see getent(1)."""

_KEPT_BACK = (
    'file="${VLLM_CONFIG_ROOT:-${XDG_CONFIG_HOME:-$HOME/.config}/vllm}/ray_non_carry_over_env_vars.json"; '
    '[ ! -e "$file" ] || cat "$file"'
)
"""Source of the path: VLLM_CONFIG_ROOT in vllm/envs.py, and vllm/ray/ray_env.py, of 0.17.1 and 0.32.0."""

_RESOLVED = Command('getent ahostsv4 "$(uname -n)"', Place.ENGINE)


class EnvironmentView(View):
    """Variables that stand on a node, or are kept from its workers, and what its own name resolves to."""

    @classmethod
    def commands(cls, deployment: Deployment, node: Node) -> tuple[Command, ...]:
        """The variables that matter to Ray and the engine, none else; the node's name; and vLLM's own file."""
        return (_login(deployment, node), _RESOLVED, _not_handed_over(deployment, node))

    @cached_property
    def login(self) -> dict[str, str]:
        """What ``ray start`` would inherit if the user started it over this transport, or in this container."""
        kept = self._text(_login(self._deployment, self._node))
        return dict(line.partition("=")[::2] for line in kept.splitlines())

    @cached_property
    def not_handed_over(self) -> frozenset[str]:
        """Names that a server started here would hand to no worker; empty without the file, or where it is no JSON.

        vLLM takes a file that it cannot parse for an empty one.
        """
        text = self._text(_not_handed_over(self._deployment, self._node))
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


def _login(deployment: Deployment, node: Node) -> Command:
    return Command(login.with_environment(_KEPT, deployment, node), Place.ENGINE, key=_KEPT)


def _not_handed_over(deployment: Deployment, node: Node) -> Command:
    text = login.with_environment(_KEPT_BACK, deployment, node)
    return Command(text, Place.ENGINE, key="ray_non_carry_over_env_vars.json of the engine's user")
