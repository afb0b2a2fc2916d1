"""Start an embedded deployment, or attach to one that stands."""

from __future__ import annotations

import os
import secrets
from dataclasses import dataclass
from pathlib import Path

from shakedown.embedded import cluster, hub, machine, making, network
from shakedown.embedded.deployment import EmbeddedDeployment, Progress, clock, silent
from shakedown.embedded.faults import shape_of
from shakedown.embedded.node import RunningNode
from shakedown.embedded.processes import myself
from shakedown.embedded.state import Record, StateFolder
from shakedown.errors import LaunchError
from shakedown.outcomes import Stage

__all__ = ["DEFAULT_NAME", "EmbeddedDeployment", "Options", "Progress", "attach", "start"]

DEFAULT_NAME = "embedded"


@dataclass(frozen=True)
class Options:
    """What can be chosen about an embedded deployment.

    Attributes:
        name: tells this user's deployments apart; None takes a fresh one.
        slow_load_s: delay of each of the 39 shards, seconds.
        fault: name of the fault to build in, see `shakedown.embedded.faults`.
        engine_python: a Python that has vLLM and Ray; None takes ``$SHAKEDOWN_ENGINE_PYTHON`` or ``.venv-engine``.
        owned: the deployment ends when this process does, however it ends.
    """

    name: str | None = None
    slow_load_s: float = 0
    fault: str | None = None
    engine_python: Path | None = None
    owned: bool = False


def start(options: Options, progress: Progress = silent) -> EmbeddedDeployment:
    """Make a deployment and bring it to the stage `hosts`.

    It ends with this process until it is released, as it is at the end of a ``with`` block if it is not owned.

    Raises:
        MissingPrerequisiteError: this machine lacks something; says what and how to get it.
        LaunchError: it could not be made, or one of that name stands already. Nothing of it is left.
    """
    tell = clock(progress)
    tell("the machine is looked at")
    shape = shape_of(options.fault)
    engine = machine.check(options.engine_python, tell)
    folder = StateFolder(options.name or f"{DEFAULT_NAME}-{os.getpid()}-{secrets.token_hex(3)}")
    record = Record(starter=myself(), fault=options.fault, slow_load_s=options.slow_load_s)
    folder.create(record)
    try:
        tell("two nodes are made")
        return making.spawn(folder, record, making.prepare(folder.path, engine, shape), shape, owned=options.owned)
    except BaseException:
        folder.remove()
        raise


def attach(name: str = DEFAULT_NAME) -> EmbeddedDeployment:
    """The deployment of that name, which stands already.

    Raises:
        LaunchError: there is none.
    """
    folder = StateFolder(name)
    record = folder.read()
    if record is None or not record.running:
        raise LaunchError(f"no embedded deployment '{name}' stands; make one: python -m shakedown up --name {name}")
    plan = network.Plan.load(folder.path / hub.PLAN)
    nodes = tuple(RunningNode(node, record.nodes[node.name]) for node in plan.nodes)
    return EmbeddedDeployment(folder, _as_it_is(record, nodes[0]), nodes)


def _as_it_is(record: Record, head: RunningNode) -> Record:
    """The record, set back to the stage whose processes still live."""
    stage = record.stage
    if stage is Stage.SERVING and not (record.server and record.server.alive(head.proc)):
        stage = Stage.RAY
    if stage is Stage.RAY and not head.listens(cluster.PORT):
        stage = Stage.HOSTS
    return record.model_copy(update={"stage": stage})
