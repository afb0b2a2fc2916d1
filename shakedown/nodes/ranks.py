"""The environment in which every rank will run, or runs: the raylet's, and what vLLM hands over from the head."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from shakedown.engines.vllm.handover import HandOver, hand_over
from shakedown.engines.vllm.shell import parse_shell
from shakedown.engines.vllm.wire import parse_version
from shakedown.errors import EvidenceError
from shakedown.inventory.model import Deployment
from shakedown.nodes.views.node import NodeViews


@dataclass(frozen=True, slots=True)
class Driver:
    """The environment of the process that makes the ranks.

    Attributes:
        environment: the variables that matter to Ray and the engine.
        known_from: where it was read, in words.
    """

    environment: Mapping[str, str]
    known_from: str


@dataclass(frozen=True, slots=True)
class Rank:
    """The environment of the ranks of one node.

    Attributes:
        raylet: what they inherit.
        final: what comes out.
        replaced: name -> (the node's value, the driver's) of what the driver replaces.
    """

    raylet: Mapping[str, str]
    final: Mapping[str, str]
    replaced: Mapping[str, tuple[str, str]]


def driver_of(head: NodeViews, deployment: Deployment) -> Driver:
    """The running API server's environment, or what it will be.

    Before the launch that is what a command gets which is started on the head now, with the variables that
    ``[launch].serve`` sets before the server's name.

    Raises:
        EvidenceError: a server runs whose environment this user may not read.
    """
    if head.server.servers:
        server = head.server.server
        if server.environment is None:
            raise EvidenceError(f"the environment of API server {server.pid} may not be read by this user")
        return Driver(server.environment, f"API server {server.pid}")
    declared = parse_shell(deployment.launch.serve) if deployment.launch and deployment.launch.serve else None
    if declared is None:
        return Driver(head.environment.login, "what a command gets that is started on the head")
    return Driver({**head.environment.login, **declared.environment}, "the head, with what [launch].serve sets")


def rules_of(head: NodeViews, deployment: Deployment, driver: Driver) -> HandOver:
    """What the installed release hands over.

    Raises:
        EvidenceError: no engine is installed where the head's Python looks.
    """
    version = head.platform.versions.get(deployment.serve.engine)
    if version is None:
        raise EvidenceError(f"no {deployment.serve.engine} is installed on {head.node.name}, so its rules are unknown")
    return hand_over(parse_version(version), driver.environment, head.environment.not_handed_over)


def rank_of(view: NodeViews, head: NodeViews, deployment: Deployment) -> Rank:
    """The ranks of one node.

    Raises:
        EvidenceError: the environment of its raylet is not known, or the engine's release.
    """
    driver = driver_of(head, deployment)
    rules = rules_of(head, deployment, driver)
    raylet = view.ray.environment
    return Rank(
        raylet=raylet,
        final=rules.final(raylet, driver.environment),
        replaced=rules.replaced(raylet, driver.environment),
    )
