"""A server that runs already, ready or not: beside it no second one may be started."""

from __future__ import annotations

from shakedown.errors import LaunchError
from shakedown.inventory.model import Deployment
from shakedown.nodes.evidence import Evidence
from shakedown.nodes.views.node import NodeViews
from shakedown.outcomes import Stage


def servers_of(deployment: Deployment) -> tuple[int, ...]:
    """Process ids of the API servers on the head, of whatever model.

    Raises:
        NodeUnreachableError: the head does not answer.
        EvidenceError: it does not tell.
    """
    views = NodeViews(deployment, deployment.head, Evidence.of(deployment, Stage.RAY))
    return tuple(server.pid for server in views.server.servers)


def require_no_server(deployment: Deployment) -> None:
    """Refuse to start a server where one runs: two would share port, memory and log, and both would fail.

    Raises:
        LaunchError: there is one.
    """
    pids = servers_of(deployment)
    if pids:
        raise LaunchError(
            f"an API server runs on {deployment.head.name} already and does not answer yet (process "
            f"{', '.join(map(str, pids))}): python -m shakedown watch follows it, from wherever it is; if it gets "
            f"nowhere, end it first: kill {' '.join(map(str, pids))}"
        )
