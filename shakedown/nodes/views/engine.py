"""Whether the node's Python finds Ray and the engine, and what the installed engine knows."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Literal

from shakedown.inventory.model import Deployment, Node
from shakedown.nodes.answer import Command, python_script
from shakedown.nodes.views.base import View

ParserKind = Literal["reasoning", "tools"]


class EngineView(View):
    """Ray and the engine as installed where they run on one node."""

    @classmethod
    def commands(cls, deployment: Deployment, node: Node) -> tuple[Command, ...]:
        """One script."""
        return (_engine(deployment, node),)

    @property
    def finds_ray(self) -> bool:
        """Whether ``import ray`` would find a package."""
        return bool(self._answer["ray"])

    @property
    def finds_engine(self) -> bool:
        """Whether an import of the engine would find a package."""
        return bool(self._answer["engine"])

    def parsers(self, kind: ParserKind) -> tuple[str, ...] | None:
        """Names of the parsers that the installed release registers; None where it keeps them elsewhere."""
        names = self._answer["parsers"][kind]
        return None if names is None else tuple(names)

    @property
    def traits(self) -> tuple[str, ...] | None:
        """What its sources have of that by which releases hand over variables otherwise; None where they are not read.

        The names are those of `shakedown.engines.vllm.handover.FIRST_WITH`.
        """
        names = self._answer["traits"]
        return None if names is None else tuple(names)

    @cached_property
    def _answer(self) -> Any:
        return self._json(_engine(self._deployment, self._node))


def _engine(deployment: Deployment, node: Node) -> Command:
    return python_script("engine", node.python, deployment.serve.engine)
