"""One handle on a deployment, however it came to be: attached, made on this machine, or simulated.

Everything after the opening is the same code: the deployment file says what is meant, the stage says how far it is.
"""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path

from shakedown.embedded.up import EmbeddedDeployment, start
from shakedown.embedded.up import Options as Making
from shakedown.errors import LaunchError
from shakedown.inventory.load import load_deployment
from shakedown.inventory.model import Deployment
from shakedown.launch.attend import Options, attend, require_ready
from shakedown.launch.launching import Declared, attending, launch
from shakedown.launch.live import lines_to
from shakedown.launch.running import servers_of
from shakedown.launch.stage import find_stage
from shakedown.launch.status import State
from shakedown.nodes.evidence import Evidence
from shakedown.outcomes import Stage
from shakedown.simulator.deployment import bundle_of, simulated_deployment
from shakedown.simulator.run import running_simulator

Progress = Callable[[str], None]

DECLARED_IN: dict[str, Callable[[Deployment], object]] = {
    "reasoning": lambda deployment: deployment.serve.reasoning_parser,
    "tools": lambda deployment: deployment.serve.tool_call_parser,
    "serve log": lambda deployment: deployment.serve.log,
    "container": lambda deployment: deployment.container,
    "gpus": lambda deployment: not deployment.label and all(node.gpus for node in deployment.node),
}
KEY_OF = {
    "reasoning": "[serve].reasoning_parser",
    "tools": "[serve].tool_call_parser",
    "serve log": "[serve].log",
    "container": "[container]",
    "gpus": "[[node]].gpus of real machines",
}


class Opened(ABC):
    """A deployment that can be asked.

    Attributes:
        deployment: what it is meant to be, with the addresses it really has.
        stage: how far it has come.
        evidence_file: bundle to read instead of asking nodes; None asks them.
    """

    deployment: Deployment
    stage: Stage
    evidence_file: Path | None = None

    def can_reach(self, stage: Stage) -> bool:
        """Whether :meth:`reach` may be asked for that stage."""
        return stage == self.stage

    @abstractmethod
    def reach(self, stage: Stage) -> None:
        """Bring the deployment to that stage; does nothing when it is there.

        Raises:
            LaunchError: it did not get there, or is only attached to.
        """

    @abstractmethod
    def close(self) -> None:
        """End what was started for this handle, and nothing else."""

    def lacks(self, capability: str) -> str | None:
        """Why the deployment does not have a capability, None where it does.

        Raises:
            KeyError: no such capability.
        """
        if DECLARED_IN[capability](self.deployment):
            return None
        return f"no {capability}: {KEY_OF[capability]} is not declared in the deployment file"


class Attached(Opened):
    """Somebody else's deployment: only read, never started or ended. With a bundle not even its nodes are asked."""

    def __init__(self, deployment: Deployment, replay: Path | None, progress: Progress) -> None:
        self.deployment = deployment
        self.evidence_file = replay
        self._progress = progress
        self.stage = Evidence.load(replay).stage if replay else find_stage(deployment)

    def reach(self, stage: Stage) -> None:
        """Refuses any stage but the one it is at; a launch that somebody has begun is followed to its end."""
        if stage is Stage.SERVING and self.stage is not stage and self.evidence_file is None:
            self._follow()
        if stage != self.stage:
            raise LaunchError(
                f"{self.deployment.name} is at stage {self.stage}, not {stage}: "
                f"{self.deployment.serve.base_url}/health does not say 200. It is only attached to, so it is not "
                "started from here: python -m shakedown launch does that, or --launch for a run of serving or perf "
                "tests, and pytest -m infra says what stands in its way"
            )

    def _follow(self) -> None:
        with lines_to(self._progress)() as show:
            status = attend(self.deployment, show)
        if status.state is not State.ENDED:
            require_ready(status)
            self.stage = Stage.SERVING

    def close(self) -> None:
        """Nothing was started."""


class Startable(Attached):
    """A declared deployment that this run may start, when something first needs it; it is never ended from here."""

    def __init__(self, file: Path, deployment: Deployment, progress: Progress) -> None:
        super().__init__(deployment, None, progress)
        self._file = file

    def can_reach(self, stage: Stage) -> bool:
        """Any stage from here on."""
        return stage.order >= self.stage.order

    def reach(self, stage: Stage) -> None:
        """Start what is missing; a server that starts already is followed, and no second one put beside it."""
        if stage.order <= self.stage.order:
            return
        if stage is Stage.SERVING and self.stage is Stage.RAY and servers_of(self.deployment):
            self._follow()
        target = Declared(self._file, self.deployment)
        launch(target, stage, self._progress, lines_to(self._progress), Options(), gate=False)
        self.stage = target.stage


class Embedded(Opened):
    """The two nodes in the box, owned by this run: whatever ends the run ends them."""

    def __init__(self, running: EmbeddedDeployment, progress: Progress) -> None:
        self._running = running
        self._progress = progress
        self.deployment = load_deployment(running.file)
        self.stage = running.stage

    def can_reach(self, stage: Stage) -> bool:
        """Any stage from here on."""
        return stage.order >= self.stage.order

    def reach(self, stage: Stage) -> None:
        """Start Ray, then the model, as far as asked."""
        if stage.order > self.stage.order:
            self._running.reach(stage, self._progress, attending(lines_to(self._progress)))
            self.stage = self._running.stage

    def close(self) -> None:
        """End both nodes with everything in them."""
        self._running.close()


class Simulated(Opened):
    """A simulated server and a recorded healthy pair of nodes: no engine, no root."""

    def __init__(self, stage: Stage, fault: str | None) -> None:
        self._resources = contextlib.ExitStack()
        simulator = self._resources.enter_context(running_simulator(fault=fault))
        self.deployment = simulated_deployment(simulator.base_url)
        self._at(stage)

    def can_reach(self, stage: Stage) -> bool:
        """Any stage: each has its own recorded bundle."""
        return bundle_of(stage).is_file()

    def reach(self, stage: Stage) -> None:
        """Replay the bundle of that stage from here on."""
        self._at(stage)

    def close(self) -> None:
        """End the simulator."""
        self._resources.close()

    def _at(self, stage: Stage) -> None:
        self.stage = stage
        self.evidence_file = bundle_of(stage)


def open_attached(deployment: Deployment, progress: Progress, replay: Path | None = None) -> Opened:
    """Attach to a declared deployment, or to what a bundle says of it.

    Raises:
        NodeUnreachableError: a declared node does not answer.
        EvidenceError: the bundle cannot be read.
    """
    return Attached(deployment, replay, progress)


def open_startable(file: Path, deployment: Deployment, progress: Progress) -> Opened:
    """Attach to a declared deployment that may be started from here.

    Raises:
        NodeUnreachableError: a declared node does not answer.
    """
    return Startable(file, deployment, progress)


def open_embedded(stage: Stage, progress: Progress) -> Opened:
    """Make the embedded deployment and bring it to a stage.

    Raises:
        MissingPrerequisiteError: this machine lacks something; the text says how to get it.
        LaunchError: it did not get there.
    """
    running = start(Making(owned=True), progress)
    try:
        embedded = Embedded(running, progress)
        embedded.reach(stage)
    except BaseException:
        running.close()
        raise
    return embedded


def open_simulated(stage: Stage, fault: str | None = None) -> Opened:
    """Start the simulator, showing one fault if asked, beside the recorded nodes of a stage."""
    return Simulated(stage, fault)
