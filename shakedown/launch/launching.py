"""A launch from whatever stage a deployment is at: through the gate, to the next stage, through the gate, followed."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path

from shakedown.embedded.up import EmbeddedDeployment
from shakedown.inventory.load import load_deployment
from shakedown.inventory.model import Deployment
from shakedown.launch.attend import Options, attend, require_ready
from shakedown.launch.gate import require_sound
from shakedown.launch.live import Display
from shakedown.launch.running import require_no_server
from shakedown.launch.stage import find_stage
from shakedown.launch.start import run_steps
from shakedown.outcomes import Stage

Progress = Callable[[str], None]


class Launchable(ABC):
    """A deployment that can be taken to its next stage.

    Attributes:
        file: its deployment file.
        stage: how far it has come.
    """

    file: Path
    stage: Stage

    @abstractmethod
    def form_cluster(self, progress: Progress) -> None:
        """From hosts to ray.

        Raises:
            LaunchError: it did not get there.
        """

    @abstractmethod
    def serve(self, progress: Progress, display: Display, options: Options) -> None:
        """From ray to serving.

        Raises:
            LaunchError: it did not get there; with the reason.
        """


class Declared(Launchable):
    """Machines of a deployment file: the commands are the operator's own, or ours made of the file."""

    def __init__(self, file: Path, deployment: Deployment) -> None:
        self.file = file
        self._deployment = deployment
        self.stage = find_stage(deployment)

    def form_cluster(self, progress: Progress) -> None:
        """By `ray start` on every node."""
        run_steps(Stage.RAY, self._deployment, progress)
        self.stage = Stage.RAY

    def serve(self, progress: Progress, display: Display, options: Options) -> None:
        """By the serve command on the head."""
        began = time.time()
        run_steps(Stage.SERVING, self._deployment, progress)
        try:
            with display() as show:
                status = attend(self._deployment, show, options, began)
        except KeyboardInterrupt:
            progress("no longer followed; the server goes on, and `python -m shakedown watch` follows it again")
            raise
        require_ready(status, self._left())
        self.stage = Stage.SERVING

    def _left(self) -> str:
        names = ", ".join(node.name for node in self._deployment.node)
        return (
            f"left as it is: Ray on {names}, and the server on {self._deployment.head.name} if it still lives\n"
            "(docs/launching.md says how to end them; before a new launch the server must be gone)"
        )


class Embedded(Launchable):
    """The two nodes in the box."""

    def __init__(self, running: EmbeddedDeployment) -> None:
        self._running = running
        self.file = running.file
        self.stage = running.stage

    def form_cluster(self, progress: Progress) -> None:
        """By the commands with which it was made."""
        self._running.reach(Stage.RAY, progress)
        self.stage = self._running.stage

    def serve(self, progress: Progress, display: Display, options: Options) -> None:
        """The same; a server that does not get ready is ended."""
        self._running.reach(Stage.SERVING, progress, attending(display, options))
        self.stage = self._running.stage


def attending(display: Display, options: Options | None = None) -> Callable[[Path, float], None]:
    """What waits for an embedded deployment's model by following its launch."""

    def ready(file: Path, began: float) -> None:
        with display() as show:
            status = attend(load_deployment(file), show, options, began)
        require_ready(status)

    return ready


def launch(
    target: Launchable, until: Stage, progress: Progress, display: Display, options: Options, *, gate: bool = True
) -> None:
    """Take a deployment to a stage; nothing is done where it is there already.

    Args:
        target: the deployment.
        until: how far.
        progress: told what is being done.
        display: shows the start of the model.
        options: how that is followed.
        gate: run the infra checks before each step, and stop at a blocker.

    Raises:
        GateError: a check found what the launch would fail by.
        LaunchError: it did not get there, or a server is being started already.
    """
    if target.stage.order < Stage.RAY.order <= until.order:
        if gate:
            require_sound(target.file, target.stage)
        target.form_cluster(progress)
    if target.stage.order < Stage.SERVING.order <= until.order:
        require_no_server(load_deployment(target.file))
        if gate:
            require_sound(target.file, target.stage)
        target.serve(progress, display, options)
