"""A standing embedded deployment: taken through its stages, handed over, ended."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

from shakedown.embedded import cache, cluster, hub, network, server
from shakedown.embedded.faults import shape_of
from shakedown.embedded.logs import kept_when_failing
from shakedown.embedded.node import RunningNode
from shakedown.embedded.shape import Shape
from shakedown.embedded.state import Record, StateFolder
from shakedown.outcomes import Stage

Progress = Callable[[str], None]
"""Told, in a line for people, what is being done now and how many seconds have gone by."""

Ready = Callable[[Path, float], None]
"""Waits until the model is ready: given the deployment file, and when the server was started, seconds since the epoch.

Raises a LaunchError if it will never be.
"""


def silent(_line: str) -> None:
    """A progress that tells nobody."""


def clock(progress: Progress) -> Progress:
    """The same progress, told the seconds since now before each phase."""
    begin = time.monotonic()
    return lambda phase: progress(f"{time.monotonic() - begin:5.1f} s  {phase}")


@dataclass(frozen=True)
class Handle:
    """What a deployment's maker holds of it.

    Attributes:
        launcher: the ``unshare`` that holds the outer namespace.
        control: pipe to the hub.
        owned: whether the deployment must never outlive its maker.
    """

    launcher: subprocess.Popen[bytes]
    control: int
    owned: bool

    def release(self) -> None:
        """Tell the hub that the end of this process is not the end of the deployment."""
        os.write(self.control, hub.KEEP)
        os.close(self.control)
        self.launcher.returncode = 0  # not ours to wait for from here on

    def forget(self) -> None:
        """Wait for the end of the hub, which must have been brought about."""
        self.launcher.wait()
        os.close(self.control)


@dataclass
class EmbeddedDeployment:
    """A deployment that stands.

    As a context manager, it is ended at the end of the block if it is owned or the block raised, and handed over to
    `down` otherwise. One that was attached to is left as it is.

    Attributes:
        folder: its state.
        record: what is known of it.
        nodes: head first.
        handle: None where it was attached to.
    """

    folder: StateFolder
    record: Record
    nodes: tuple[RunningNode, ...]
    handle: Handle | None = field(default=None, repr=False)

    @property
    def name(self) -> str:
        """The name that tells this user's deployments apart."""
        return self.folder.name

    @property
    def file(self) -> Path:
        """The deployment file to attach through."""
        return self.folder.deployment_file

    @property
    def stage(self) -> Stage:
        """How far it came."""
        return self.record.stage

    def reach(self, stage: Stage, progress: Progress = silent, ready: Ready | None = None) -> None:
        """Take the deployment to a stage; nothing is done where it is there already.

        Args:
            stage: how far.
            progress: told what is being done.
            ready: waits for the model; without it this only asks the API and looks at the phases of the log.

        Raises:
            LaunchError: it did not get there. It stands at the stage before, without what was started in vain.
        """
        tell = clock(progress)
        if self.stage.order < Stage.RAY.order <= stage.order:
            self._form_cluster(tell)
            self._note(stage=Stage.RAY)
        if self.stage.order < Stage.SERVING.order <= stage.order:
            self._serve(tell, ready)
            self._note(stage=Stage.SERVING)

    def _form_cluster(self, tell: Callable[[str], None]) -> None:
        with kept_when_failing(self.nodes):
            cluster.form(self.nodes, self._shape, self.record.slow_load_s, tell)

    def _serve(self, tell: Callable[[str], None], ready: Ready | None) -> None:
        head, began = self.nodes[0], time.time()
        tell("vLLM starts on the head")
        process = server.launch(head, self._shape, self.record.slow_load_s)
        self._note(server=process)
        try:
            with kept_when_failing(self.nodes):
                if ready:
                    ready(self.file, began)
                else:
                    stall_s = server.STALL_S + self.record.slow_load_s
                    server.await_ready(head, process, self.record.port, tell, stall_s)
        except BaseException:
            head.kill_group(process)
            raise
        cache.keep(head, Path(network.Plan.load(self.folder.path / hub.PLAN).engine))

    @property
    def _shape(self) -> Shape:
        return shape_of(self.record.fault)

    def _note(self, **changes: object) -> None:
        self.record = self.record.model_copy(update=changes)
        self.folder.write(self.record)

    def release(self) -> None:
        """Let the deployment outlive this process; `down` ends it then."""
        if self.handle:
            self.handle.release()
            self.handle = None

    def close(self) -> None:
        """End every process, network link and mount of the deployment and remove its folder."""
        self.folder.remove()
        if self.handle:
            self.handle.forget()
            self.handle = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.handle and (self.handle.owned or error):
            self.close()
        else:
            self.release()
