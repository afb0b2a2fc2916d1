"""The log of the served engine, as far as it tells of starts."""

from __future__ import annotations

import shlex
from functools import cached_property

from shakedown.engines.vllm.phases import WORDS
from shakedown.errors import EvidenceError
from shakedown.inventory.model import Deployment, Node
from shakedown.nodes.answer import Command, Place
from shakedown.nodes.views.base import View

MOST_BYTES = 2_000_000
"""Of sifted lines; a start is told in some tens of thousands, a log of months may hold many starts: the last count."""


class ServeLogView(View):
    """What the server wrote when it started. It runs on the head, and only the head is asked."""

    @classmethod
    def commands(cls, deployment: Deployment, node: Node) -> tuple[Command, ...]:
        """One, on the head of a deployment whose log is declared."""
        return (_sifted(deployment),) if deployment.serve.log is not None and node.role == "head" else ()

    @cached_property
    def starts(self) -> str:
        """The lines that tell of starts, oldest first, in the server's own words.

        Raises:
            EvidenceError: no log is declared, this is not the head, or the log cannot be read.
        """
        declared = self.commands(self._deployment, self._node)
        if not declared:
            raise EvidenceError(f"{self._node.name} keeps no log of the server: [serve].log is of the head")
        return self._text(declared[0])


def _sifted(deployment: Deployment) -> Command:
    """Bars redraw themselves with carriage returns: each redrawing becomes a line before the lines are sifted."""
    log = shlex.quote(str(deployment.serve.log))
    words = " ".join(f"-e {shlex.quote(word)}" for word in WORDS)
    return Command(
        f"exec < {log} || exit 1; tr '\\r' '\\n' | grep -aF {words} | tail -c {MOST_BYTES}",
        Place.ENGINE if deployment.serve.log_in == "container" else Place.MACHINE,
        limit_s=20,
        key="lines of the serve log about starts",
    )
