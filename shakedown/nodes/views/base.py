"""What all views share: the commands they declare, and what becomes of an answer that is none."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

from testinfra.backend.base import CommandResult
from testinfra.host import Host

from shakedown.errors import EvidenceError
from shakedown.inventory.model import Deployment, Node
from shakedown.nodes import container
from shakedown.nodes.advice import to_read
from shakedown.nodes.answer import Command, Place


class View(ABC):
    """One subject of one node, read from what the node says.

    Args:
        deployment: what the whole is meant to be; commands depend on it and never on an answer.
        node: the node.
        hosts: the node's two places.
    """

    def __init__(self, deployment: Deployment, node: Node, hosts: Mapping[Place, Host]) -> None:
        self._deployment = deployment
        self._node = node
        self._hosts = hosts

    @classmethod
    @abstractmethod
    def commands(cls, deployment: Deployment, node: Node) -> tuple[Command, ...]:
        """Every command that this view may ask, so that all can be fetched ahead in one round trip."""

    def _result(self, command: Command) -> CommandResult:
        """The answer, whatever its exit code.

        Raises:
            EvidenceError: the command ran past a limit, or its container does not run, so its answer is none.
        """
        result = self._hosts[command.place].run(command.text)
        unfinished = command.unfinished(self._node.name, result.rc)
        if unfinished:
            raise unfinished
        declared = self._deployment.container
        if result.rc != 0 and declared and command.place is Place.ENGINE:
            why = container.out_of_reach(result.stderr, declared.name, self._node.name)
            if why:
                raise why
        return result

    def _text(self, command: Command) -> str:
        """Standard output of a command that succeeded.

        Raises:
            EvidenceError: it did not succeed; the text holds its own complaint.
        """
        result = self._result(command)
        if result.rc != 0:
            said = (result.stderr.strip() or result.stdout.strip() or "nothing").splitlines()[-1]
            raise EvidenceError(
                f"`{command.name}` on {self._node.name} ended with exit code {result.rc}: {said}",
                to_read(result.stderr),
            )
        return str(result.stdout)

    def _json(self, command: Command) -> dict[str, Any]:
        """Standard output of a command that succeeded, as the JSON object that each of ours prints.

        Raises:
            EvidenceError: it did not succeed, or printed something else.
        """
        text = self._text(command)
        try:
            answer = json.loads(text)
        except ValueError:
            answer = None
        if not isinstance(answer, dict):
            raise EvidenceError(f"`{command.name}` on {self._node.name} printed no JSON object: {text[:80]!r}")
        return answer
