"""Names in ``<...>`` in a remedy: those that the deployment file knows are filled in when a finding is made.

An operator copies the commands of a remedy into a shell, so a value stands in it as one word whatever it holds.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping
from typing import Any

from shakedown.inventory.model import Deployment, Node

PLACEHOLDER = re.compile(r"<[A-Za-z][A-Za-z _]*>")
_QUOTE = re.compile(r"[\"'`]")


def _peer(node: Node, deployment: Deployment) -> Any:
    others = [peer.fabric_address for peer in deployment.peers(node)]
    return others[0] if len(others) == 1 else None


def _subnet(node: Node, deployment: Deployment) -> Any:
    return next((subnet for subnet in deployment.fabric.subnets if node.fabric_address in subnet), None)


OF_NODE: Mapping[str, Callable[[Node, Deployment], Any]] = {
    "<interface>": lambda node, _: node.interface,
    "<fabric address>": lambda node, _: node.fabric_address,
    "<fabric address of the peer>": _peer,
    "<fabric subnet>": _subnet,
    "<hca>": lambda node, _: node.hcas[0] if len(node.hcas) == 1 else None,
    "<ssh destination>": lambda node, _: node.ssh,
}
"""What each node has of its own. A finding about the whole deployment knows it where it is the same on all nodes."""

OF_DEPLOYMENT: Mapping[str, Callable[[Deployment], Any]] = {
    "<head fabric address>": lambda deployment: deployment.head.fabric_address,
    "<worker fabric address>": lambda deployment: (
        deployment.workers[0].fabric_address if len(deployment.workers) == 1 else None
    ),
    "<container>": lambda deployment: deployment.container and deployment.container.name,
    "<image>": lambda deployment: deployment.container and deployment.container.image,
    "<GCS port>": lambda deployment: deployment.ray.port,
    "<API port>": lambda deployment: deployment.serve.port,
    "<base_url>": lambda deployment: deployment.serve.base_url,
    "<served name>": lambda deployment: deployment.model.served_name,
    "<serve log>": lambda deployment: deployment.serve.log,
    "<model path>": lambda deployment: deployment.model.path,
    "<T>": lambda deployment: deployment.serve.tensor_parallel,
    "<P>": lambda deployment: deployment.serve.pipeline_parallel,
    "<N>": lambda deployment: len(deployment.node),
}
"""What the deployment has once."""

LEFT = frozenset(
    {
        *("<branch>", "<digest>", "<few>", "<kernel>", "<logs>"),
        *("<management address>", "<model>", "<models>", "<node rank>", "<pid>", "<profile>", "<rank>"),
        *("<revision>", "<second interface>", "<shard>", "<user>", "<version>"),
    }
)
"""What no deployment file knows: the operator does."""


def filled(text: str, deployment: Deployment, node: str | None) -> str:
    """The text with what is known in place of its placeholders; what is not known stays as it is.

    A value that a shell would not take for one plain word is quoted. Where quotes stand on the same line already, it
    stays a placeholder: between quotes another pair would lay it bare.

    Args:
        text: of a remedy.
        deployment: what the values are taken from.
        node: name of the node that the finding is about; None for the whole deployment.
    """
    nodes = deployment.node if node is None else (deployment.named(node),)
    return "\n".join(
        PLACEHOLDER.sub(lambda match, line=line: _word(match[0], line, deployment, nodes), line)  # type: ignore[misc]
        for line in text.splitlines()
    )


def _word(placeholder: str, line: str, deployment: Deployment, nodes: tuple[Node, ...]) -> str:
    value = _value(placeholder, deployment, nodes)
    if value is None:
        return placeholder
    quoted = shlex.quote(value)
    return placeholder if quoted != value and _QUOTE.search(line) else quoted


def _value(placeholder: str, deployment: Deployment, nodes: tuple[Node, ...]) -> str | None:
    if placeholder in OF_DEPLOYMENT:
        values = {OF_DEPLOYMENT[placeholder](deployment)}
    elif placeholder in OF_NODE:
        values = {OF_NODE[placeholder](node, deployment) for node in nodes}
    else:
        return None
    value = values.pop()
    return None if values or value is None else str(value)
