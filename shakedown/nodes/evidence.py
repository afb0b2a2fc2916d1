"""What the nodes of a deployment said at one stage: asked once, remembered, kept, and judged again without them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

from shakedown.errors import BundleError, EvidenceError, NodeUnreachableError, ShakedownError
from shakedown.inventory.model import Deployment
from shakedown.nodes import bundle
from shakedown.nodes.answer import Answer, Command, Place
from shakedown.nodes.fetch import Reach, round_trip
from shakedown.nodes.transport import DockerExec, machine_transport
from shakedown.outcomes import Stage

__all__ = ["Answer", "Command", "Evidence", "Place"]


class Evidence:
    """Answers by node, place and command, of one stage.

    Args:
        deployment: its name.
        stage: the stage at which the nodes are asked; with another stage comes another Evidence.
        reaches: the way to every node; empty for evidence that was kept, which asks nobody.
        origin: where kept evidence came from, for messages.

    Attributes:
        recorded: when it was begun, UTC.
        unverified: of nodes that were dressed as other machines: what they showed whose form nobody has verified.
    """

    def __init__(
        self, deployment: str, stage: Stage, reaches: Mapping[str, Reach], *, origin: str = "this evidence"
    ) -> None:
        self.deployment = deployment
        self.stage = stage
        self.recorded = datetime.now(UTC).isoformat(timespec="seconds")
        self.unverified: tuple[str, ...] = ()
        self._reaches = dict(reaches)
        self._origin = origin
        self._answers: dict[str, dict[tuple[Place, str], Answer]] = {name: {} for name in reaches}
        self._keys: dict[str, str] = {}

    @classmethod
    def of(cls, deployment: Deployment, stage: Stage) -> Evidence:
        """Nothing asked yet, of the nodes of a deployment."""
        reaches: dict[str, Reach] = {}
        for node in deployment.node:
            machine = machine_transport(node)
            container = DockerExec(machine, deployment.container.name) if deployment.container else None
            reaches[node.name] = Reach(node.name, machine, container)
        return cls(deployment.name, stage, reaches)

    @classmethod
    def load(cls, file: Path) -> Evidence:
        """What a bundle holds; no node will be touched.

        Raises:
            BundleError: it cannot be read.
        """
        kept = bundle.read(file)
        evidence = cls(kept.deployment, kept.stage, {}, origin=str(file))
        evidence.recorded = kept.recorded
        evidence.unverified = kept.unverified
        for name, answers in kept.nodes.items():
            evidence._answers[name] = {}
            for answer in answers:
                evidence.record(name, answer.answer())
        return evidence

    @classmethod
    def load_for(cls, file: Path, deployment: Deployment) -> Evidence:
        """What a bundle of that very deployment holds.

        Raises:
            BundleError: it cannot be read, or is of another deployment or of other nodes.
        """
        evidence = cls.load(file)
        if evidence.deployment != deployment.name:
            raise BundleError(
                f"{file} is of deployment {evidence.deployment}, this is {deployment.name}",
                "take a bundle and a deployment file that belong together",
            )
        missing = [node.name for node in deployment.node if node.name not in evidence.nodes]
        if missing:
            holds = ", ".join(evidence.nodes) or "no node"
            raise BundleError(f"{file} holds nothing of {', '.join(missing)}; it holds {holds}")
        return evidence

    def save(self, file: Path) -> None:
        """Write everything that was said so far as a bundle."""
        bundle.write(
            file,
            recorded=self.recorded,
            deployment=self.deployment,
            stage=self.stage,
            unverified=self.unverified,
            nodes={name: answers.values() for name, answers in self._answers.items()},
        )

    @property
    def nodes(self) -> tuple[str, ...]:
        """Names of the nodes that can be asked."""
        return tuple(self._answers)

    def answers(self, node: str) -> tuple[Answer, ...]:
        """All answers of a node, in the order in which they came."""
        return tuple(self._of(node).values())

    def declare(self, commands: Sequence[Command]) -> None:
        """Make the keys of commands known, so that asking by their text finds the kept answer."""
        self._keys.update({command.text: command.key for command in commands})

    def key_of(self, text: str) -> str:
        """Key under which the answer to a command's text is kept."""
        return self._keys.get(text, text)

    def fetch(self, wanted: Mapping[str, Sequence[Command]]) -> None:
        """Ask all nodes at once, in one round trip each; kept evidence asks nobody.

        Raises:
            NodeUnreachableError: nodes that did not answer, or vanished half-way; what was said is remembered.
        """
        for commands in wanted.values():
            self.declare(commands)
        if not self._reaches:
            return
        with ThreadPoolExecutor(max_workers=len(wanted)) as pool:
            failures = list(pool.map(lambda item: self._fetch(*item), wanted.items()))
        messages = [str(failure) for failure in failures if failure]
        if messages:
            raise NodeUnreachableError("\n".join(messages))

    def knows(self, node: str, command: Command) -> bool:
        """Whether an answer is remembered."""
        return (command.place, command.key) in self._of(node)

    def ask(self, node: str, command: Command) -> Answer:
        """The remembered answer, or the node's own if it was never asked.

        Raises:
            EvidenceError: kept evidence holds no answer.
            NodeUnreachableError: the node does not answer.
        """
        found = self._of(node).get((command.place, command.key))
        if found:
            return found
        if node not in self._reaches:
            raise EvidenceError(
                f"{self._origin}, recorded at stage {self.stage}, holds no answer of {node} ({command.place}) "
                f"to `{command.name}`",
                "record it again with --evidence and this version of shakedown",
            )
        self.declare([command])
        for answer in round_trip(self._reaches[node], [command], ahead=False):
            self.record(node, answer)
        return self._answers[node][command.place, command.key]

    def record(self, node: str, answer: Answer) -> None:
        """Remember an answer; a later one to the same command takes its place."""
        self._of(node)[answer.place, answer.key] = answer

    def change(self, node: str, key: str, edit: Callable[[str], str], **fields: int) -> None:
        """Change recorded answers, to show a check what a faulty node would have said.

        Args:
            node: whose answers.
            key: start of the command's key; every answer that fits is changed, at least one must.
            edit: the standard output as it was -> as it shall be.
            fields: further fields of :class:`Answer`, e.g. ``exit_code``.

        Raises:
            EvidenceError: no answer fits, or nothing was changed.
        """
        fitting = [answer for answer in self.answers(node) if answer.key.startswith(key)]
        changed = [
            dataclasses.replace(answer, stdout=edit(answer.text).encode(), **fields)  # type: ignore[arg-type]
            for answer in fitting
        ]
        if changed == fitting:
            raise EvidenceError(f"{self._origin}: nothing to change at {node} in answers to `{key}...`")
        for answer in changed:
            self.record(node, answer)

    def _of(self, node: str) -> dict[tuple[Place, str], Answer]:
        try:
            return self._answers[node]
        except KeyError:
            known = ", ".join(self._answers)
            raise EvidenceError(f"{self._origin} holds nothing of a node {node}; it holds {known}") from None

    def _fetch(self, node: str, commands: Sequence[Command]) -> ShakedownError | None:
        try:
            for answer in round_trip(self._reaches[node], commands, ahead=True):
                self.record(node, answer)
        except ShakedownError as error:
            return error
        return None
