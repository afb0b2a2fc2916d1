"""The API port: free before the launch, one server's afterwards."""

from __future__ import annotations

from itertools import combinations

import pytest

from fixtures.claim import Claim
from shakedown.inventory.model import Deployment
from shakedown.nodes.views.node import NodeViews

pytestmark = pytest.mark.infra


@pytest.mark.check("SRV-01", stages=("hosts", "ray"))
def test_api_port_is_free(head: NodeViews, deployment: Deployment, claim: Claim) -> None:
    """Before the model is launched nothing listens on the API port of the head."""
    port = deployment.serve.port
    taken = head.processes.listeners(port)
    claim(
        not taken, found="; ".join(map(str, taken)), expected=f"nobody on port {port} of the head", node=head.node.name
    )


@pytest.mark.check("SRV-01", stages=("serving",))
def test_api_port_has_one_server(head: NodeViews, deployment: Deployment, claim: Claim) -> None:
    """While the model is served somebody listens on the API port of the head, and no two servers share it."""
    port = deployment.serve.port
    listeners = head.processes.listeners(port)
    shared = any(one.competes_with(other) for one, other in combinations(listeners, 2))
    claim(
        bool(listeners) and not shared,
        found="; ".join(map(str, listeners)) or f"nobody listens on port {port}",
        expected=f"one server on port {port} of the head; in each family, all sockets of the same owner",
        node=head.node.name,
    )
