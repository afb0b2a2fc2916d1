"""The start of the server that counts: of the one that runs, before the launch of the one that is declared."""

from __future__ import annotations

from dataclasses import dataclass

from shakedown.engines.vllm.arguments import ServeCommand
from shakedown.engines.vllm.commanded import as_commanded
from shakedown.engines.vllm.model_shape import own_length
from shakedown.engines.vllm.shell import parse_shell, reads_variables
from shakedown.inventory.model import Deployment
from shakedown.nodes.views.node import NodeViews
from shakedown.nodes.views.server import Server

DECLARED = "[launch].serve"
FILE = "the deployment file"


@dataclass(frozen=True, slots=True)
class Start:
    """A start of the server.

    Attributes:
        command: its options.
        known_from: where they were read, in words.
        server: the process; None before the launch.
        open_ended: the text reads variables from files, so it may set others than it shows.
    """

    command: ServeCommand
    known_from: str
    server: Server | None = None
    open_ended: bool = False


def start_of(head: NodeViews, deployment: Deployment) -> Start | None:
    """How the server is, or will be, started; None where no server runs and no command of its own is declared.

    A command that starts a script or a service is none: what that gives to the engine is not known.

    Raises:
        EvidenceError: several servers run.
    """
    if head.server.servers:
        server = head.server.server
        return Start(server.command, f"API server {server.pid}", server)
    text = deployment.launch.serve if deployment.launch else None
    command = parse_shell(text) if text else None
    return Start(command, DECLARED, open_ended=reads_variables(text or "")) if command else None


def commanded(head: NodeViews, deployment: Deployment) -> tuple[Deployment, str]:
    """The deployment as it is, or will be, started; and where its settings were read, in words."""
    start = start_of(head, deployment)
    if start is None:
        return deployment, FILE
    length = own_length(head.model_files.folder.config)
    return as_commanded(deployment, start.command, length), start.known_from
