"""The environment in which every rank will run, or runs: the raylet's, and what vLLM hands over from the head."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from shakedown.engines import nccl
from shakedown.engines.vllm.environment import GLOO_NICS
from shakedown.engines.vllm.handover import HOST_IP, HandOver, hand_over, oldest_with
from shakedown.engines.vllm.wire import parse_version
from shakedown.errors import EvidenceError
from shakedown.inventory.model import Deployment, Node
from shakedown.nodes.start import DECLARED, start_of
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
    start = start_of(head, deployment)
    if start is None:
        return Driver(head.environment.login, "what a command gets that is started on the head")
    if start.server is None:
        return Driver({**head.environment.login, **start.command.environment}, f"the head, with what {DECLARED} sets")
    if start.server.environment is None:
        raise EvidenceError(f"the environment of {start.known_from} may not be read by this user")
    return Driver(start.server.environment, start.known_from)


def rules_of(head: NodeViews, deployment: Deployment, driver: Driver) -> HandOver:
    """What the installed release hands over: by its number and by what is seen in its sources, whichever is later.

    A build between two releases has the number of the earlier, and one from sources may have none.

    Raises:
        EvidenceError: no engine is installed where the head's Python looks, or neither of both tells its release.
    """
    installed = head.platform.versions.get(deployment.serve.engine)
    if installed is None:
        raise EvidenceError(f"no {deployment.serve.engine} is installed on {head.node.name}, so its rules are unknown")
    seen = head.engine.traits
    try:
        version = parse_version(installed)
    except ValueError as error:
        if seen is None:
            raise EvidenceError(f"{deployment.serve.engine} on {head.node.name}: {error}") from error
        version = oldest_with(seen)
    version = max(version, oldest_with(seen or ()))
    return hand_over(version, driver.environment, head.environment.not_handed_over)


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


def planned_rank_of(view: NodeViews, head: NodeViews, deployment: Deployment) -> Rank:
    """The ranks of one node as they would be if Ray were started there now, over this transport or in the container.

    What nobody has set yet and a launch needs is taken for set as it is declared.

    Raises:
        EvidenceError: see :func:`driver_of` and :func:`rules_of`.
    """
    driver = driver_of(head, deployment)
    rules = rules_of(head, deployment, driver)
    own = as_declared(view.node) | view.environment.login
    return Rank(own, rules.final(own, driver.environment), rules.replaced(own, driver.environment))


def as_declared(node: Node) -> dict[str, str]:
    """The variables that lead to the fabric, as the deployment file has it."""
    return {HOST_IP: str(node.fabric_address), GLOO_NICS: node.interface, nccl.NICS: node.interface}


def given(view: NodeViews, head: NodeViews, deployment: Deployment) -> dict[str, str]:
    """What the ranks of a node have that a process does not which is started there as the raylet's workers are.

    Where no Ray runs: which a command does not that is started there.

    Raises:
        EvidenceError: see :func:`rank_of` and :func:`planned_rank_of`.
    """
    if view.ray.raylets:
        rank = rank_of(view, head, deployment)
        has: Mapping[str, str] = rank.raylet
    else:
        rank = planned_rank_of(view, head, deployment)
        has = view.environment.login
    return {name: value for name, value in rank.final.items() if has.get(name) != value}
