"""One command for each of several nodes, sent to all at the same moment, at most once for each snapshot of evidence."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from importlib import resources
from typing import Any

from shakedown.errors import EvidenceError
from shakedown.inventory.model import Deployment
from shakedown.nodes import container
from shakedown.nodes.answer import Answer, Command, Place
from shakedown.nodes.evidence import Evidence


def script(name: str, python: str, *arguments: str, limit_s: int, variant: str = "") -> Command:
    """A file of ``shakedown/nodes/active/scripts`` as a command for the place where Ray and the engine run.

    Its arguments are no part of the key: ports, say, are others in each run, and the bundle is read all the same.

    Args:
        name: file name without suffix; its first line is ``# revision: N``, as in `shakedown.nodes.answer`.
        python: interpreter on the node.
        arguments: of the script.
        limit_s: seconds after which it is ended.
        variant: tells its answer from another one of the same script.
    """
    source = resources.files("shakedown.nodes.active.scripts").joinpath(f"{name}.py").read_text(encoding="utf-8")
    revision = source.splitlines()[0].removeprefix("# revision:").strip()
    text = shlex.join([python, "-B", "-c", source, *arguments])
    return Command(text, Place.ENGINE, limit_s, key=f"act {name}/{revision} {variant}".rstrip())


def act(deployment: Deployment, evidence: Evidence, wanted: Mapping[str, Command]) -> dict[str, Any]:
    """What each node's command printed, as JSON, by node.

    Args:
        deployment: what the whole is meant to be.
        evidence: remembers the answers, so that they are kept and replayed like any others.
        wanted: a command for each node that takes part.

    Raises:
        EvidenceError: a command did not run to its end, or kept evidence holds no answer to it.
        NodeUnreachableError: a node did not answer.
    """
    if not all(evidence.knows(node, command) for node, command in wanted.items()):
        evidence.fetch({node: [command] for node, command in wanted.items()})
    return {node: _printed(deployment, node, command, evidence.ask(node, command)) for node, command in wanted.items()}


def _printed(deployment: Deployment, node: str, command: Command, answer: Answer) -> Any:
    unfinished = command.unfinished(node, answer.exit_code)
    if unfinished:
        raise unfinished
    if deployment.container and answer.exit_code:
        why = container.out_of_reach(answer.stderr.decode(errors="replace"), deployment.container.name, node)
        if why:
            raise why
    try:
        return json.loads(answer.text)
    except ValueError:
        said = answer.complaint or "nothing"
        raise EvidenceError(f"`{command.name}` on {node} ended with exit code {answer.exit_code}: {said}") from None
