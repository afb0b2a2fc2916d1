"""The start of the server that counts: of the one that runs, before the launch of the one that is declared."""

from __future__ import annotations

from dataclasses import dataclass

from shakedown.engines.vllm.arguments import ServeCommand
from shakedown.engines.vllm.commanded import as_commanded
from shakedown.engines.vllm.shell import parse_shell
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
    """

    command: ServeCommand
    known_from: str
    server: Server | None = None


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
    return Start(command, DECLARED) if command else None


def commanded(head: NodeViews, deployment: Deployment) -> tuple[Deployment, str]:
    """The deployment as it is, or will be, started; and where its settings were read, in words."""
    start = start_of(head, deployment)
    return (as_commanded(deployment, start.command), start.known_from) if start else (deployment, FILE)
