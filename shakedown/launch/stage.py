"""How far a deployment has come, found out by looking, never by changing anything."""

from __future__ import annotations

import subprocess
from concurrent.futures import ThreadPoolExecutor

import httpx

from shakedown.errors import NodeUnreachableError
from shakedown.inventory.model import Deployment, Node
from shakedown.nodes import container
from shakedown.nodes.advice import advice
from shakedown.nodes.procfs import each_process
from shakedown.nodes.transport import transport_for
from shakedown.outcomes import Stage

HEALTH_TIMEOUT_S = 5.0
"""A healthy server answers ``/health`` in milliseconds; a busy one on a loaded link in under a second."""

NODE_TIMEOUT_S = 30.0
"""Longer than the ssh connection's own limit, so that the transport's error is the one that is read."""

ALIVE = each_process(["raylet"], "echo raylet") + "echo asked\n"
"""One line for every raylet, and a last one without which there was no answer."""


def find_stage(deployment: Deployment) -> Stage:
    """Serving if the API says it is healthy, ray if the head runs a raylet, else hosts.

    Where a container is declared, only a raylet in it counts; a container that does not run has none.

    Raises:
        NodeUnreachableError: a declared node does not answer; all that do not are named.
    """
    raylets = _raylets(deployment)
    if _healthy(deployment):
        return Stage.SERVING
    return Stage.RAY if raylets[deployment.head.name] else Stage.HOSTS


def _healthy(deployment: Deployment) -> bool:
    """Asked directly, as every other request of the suite: a proxy's answer would be about the proxy."""
    try:
        url = f"{deployment.serve.base_url}/health"
        return httpx.get(url, timeout=HEALTH_TIMEOUT_S, trust_env=False).is_success
    except httpx.HTTPError:
        return False


def _raylets(deployment: Deployment) -> dict[str, bool]:
    """All nodes are asked at once: over ssh it is here that the connections are made."""
    answers: dict[str, bool] = {}
    silent: dict[str, str] = {}
    with ThreadPoolExecutor(max_workers=len(deployment.node)) as pool:
        asked = {node.name: pool.submit(_has_raylet, deployment, node) for node in deployment.node}
    for name, answer in asked.items():
        try:
            answers[name] = answer.result()
        except (NodeUnreachableError, OSError) as error:
            silent[name] = str(error)
    if silent:
        each = "\n".join(f"{name}: {why}" for name, why in silent.items())
        raise NodeUnreachableError(f"declared, but not reachable: {', '.join(silent)}\n{each}")
    return answers


def _has_raylet(deployment: Deployment, node: Node) -> bool:
    argv = transport_for(node, deployment).argv(ALIVE)
    try:
        done = subprocess.run(argv, capture_output=True, text=True, timeout=NODE_TIMEOUT_S, check=False)
    except subprocess.TimeoutExpired as error:
        raise NodeUnreachableError(f"no answer within {NODE_TIMEOUT_S:.0f} s to `{argv[0]}`") from error
    answer = done.stdout.split()
    if answer[-1:] == ["asked"]:
        return "raylet" in answer
    if deployment.container and container.down(done.stderr, deployment.container.name, node.name):
        return False
    said = done.stderr.strip() or done.stdout.strip()
    raise NodeUnreachableError(f"`{argv[0]}` ended with {done.returncode}: {said}{advice(said)}")
