"""testinfra's Host over evidence: every module of testinfra works, and whatever it asks is remembered."""

from __future__ import annotations

import dataclasses
from typing import Any

from testinfra.backend.base import BaseBackend, CommandResult
from testinfra.host import Host

from shakedown.nodes.answer import Command, Place
from shakedown.nodes.evidence import Evidence


@dataclasses.dataclass
class EvidenceResult(CommandResult):  # type: ignore[misc] # testinfra ships no types
    """A result as testinfra gives it, and this machine's clock when the question left and when the answer was there."""

    asked: float = 0.0
    answered: float = 0.0


class EvidenceBackend(BaseBackend):  # type: ignore[misc] # testinfra ships no types
    """A backend of testinfra that asks the evidence, which asks the node only for what it does not know yet."""

    NAME = "evidence"

    def __init__(self, evidence: Evidence, node: str, place: Place) -> None:
        super().__init__(node)
        self._evidence = evidence
        self._place = place

    def run(self, command: str, *args: str, **kwargs: Any) -> EvidenceResult:  # noqa: ARG002 - testinfra's signature
        """Run a command, ``%s`` in it standing for quoted arguments; also used by testinfra's own modules."""
        text = self.get_command(command, *args)
        answer = self._evidence.ask(self.hostname, Command(text, self._place, key=self._evidence.key_of(text)))
        return EvidenceResult(
            self, answer.exit_code, text.encode(), answer.stdout, answer.stderr, answer.asked, answer.answered
        )

    def get_encoding(self) -> str:
        """UTF-8, without asking the node for its locale."""
        return "utf-8"

    def decode(self, data: bytes) -> str:
        """Text; bytes that are no UTF-8 are shown as such, the bytes themselves stay in ``stdout_bytes``."""
        return data.decode("utf-8", errors="replace")


def host_for(evidence: Evidence, node: str, place: Place = Place.MACHINE) -> Host:
    """The Host of a node, speaking from evidence."""
    backend = EvidenceBackend(evidence, node, place)
    host = Host(backend)
    backend.set_host(host)
    return host
