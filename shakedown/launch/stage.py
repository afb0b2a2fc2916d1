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
from shakedown.nodes.transport import machine_transport, transport_for
from shakedown.outcomes import Stage

HEALTH_TIMEOUT_S = 5.0
"""A healthy server answers ``/health`` in milliseconds; a busy one on a loaded link in under a second."""

NODE_TIMEOUT_S = 30.0
"""Longer than the ssh connection's own limit, so that the transport's error is the one that is read."""

ALIVE = each_process(["raylet"], "echo raylet") + "echo asked\n"
"""One line for every raylet, and a last one without which there was no answer."""


def find_stage(deployment: Deployment) -> Stage:
    """Serving if the API says it is healthy, ray if the head runs a raylet, else hosts.

    Where a container is declared, only a raylet in it counts; a container that does not run has none. Where docker may
    not be asked, a raylet that is seen from the machine counts: what it runs in is then nobody's knowledge.

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
    way = transport_for(node, deployment)
    answer, complaint, code = _asked(way.argv(ALIVE))
    declared = deployment.container
    if declared and not answer:
        if container.down(complaint, declared.name, node.name):
            return False
        if container.out_of_reach(complaint, declared.name, node.name):
            answer, complaint, code = _asked(machine_transport(node).argv(ALIVE))
    if not answer:
        raise NodeUnreachableError(f"{way} ended with {code}: {complaint}{advice(complaint)}")
    return "raylet" in answer


def _asked(argv: list[str]) -> tuple[list[str], str, int]:
    """The words that came back, none if there was no whole answer; the complaint; the exit code."""
    try:
        done = subprocess.run(argv, capture_output=True, text=True, timeout=NODE_TIMEOUT_S, check=False)
    except subprocess.TimeoutExpired as error:
        raise NodeUnreachableError(f"no answer within {NODE_TIMEOUT_S:.0f} s to `{argv[0]}`") from error
    words = done.stdout.split()
    whole = words[-1:] == ["asked"]
    return (words if whole else [], done.stderr.strip() or done.stdout.strip(), done.returncode)
