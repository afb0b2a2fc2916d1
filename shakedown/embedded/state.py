"""The state folder of a deployment: what `up`, `down` and `status` of different processes know of each other."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from shakedown.embedded.processes import Process, kill
from shakedown.errors import LaunchError, MissingPrerequisiteError
from shakedown.outcomes import Stage

_RECORD = "record.json"
DEPLOYMENT = "deployment.toml"


class Record(BaseModel):
    """What is known of a deployment.

    Attributes:
        starter: the process that is making it, or that owns it.
        namespaces: the ``unshare`` that holds the outer namespace; its end ends the hub.
        hub: first process of the outer namespace, as this machine counts it.
        nodes: first process of every node, as this machine counts it, by node name; head first.
        server: the API server, as the head's PID namespace counts it.
        port: of the forwarder on this machine's loopback.
        stage: how far it came.
        fault: name of the fault that was built in.
        slow_load_s: delay of each shard, seconds.
    """

    model_config = ConfigDict(extra="forbid")

    starter: Process
    namespaces: Process | None = None
    hub: Process | None = None
    nodes: dict[str, Process] = {}
    server: Process | None = None
    port: int = 0
    stage: Stage = Stage.HOSTS
    fault: str | None = None
    slow_load_s: float = 0.0

    @property
    def running(self) -> bool:
        """True while the deployment stands."""
        return self.hub is not None and self.hub.alive()

    @property
    def starting(self) -> bool:
        """True while somebody is still making it."""
        return self.hub is None and self.starter.alive()


def base() -> Path:
    """The folder of this user's deployments; it exists only while there are some.

    Raises:
        MissingPrerequisiteError: something else is there, or it belongs to another user.
    """
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    if runtime and Path(runtime).is_dir():
        folder = Path(runtime) / "shakedown"
    else:
        folder = Path(tempfile.gettempdir()) / f"shakedown-{os.getuid()}"
    try:
        found = folder.lstat()
    except FileNotFoundError:
        return folder
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
        raise MissingPrerequisiteError(
            f"{folder} is not a folder of this user, so its deployments cannot be trusted; set XDG_RUNTIME_DIR"
        )
    return folder


class StateFolder:
    """One deployment's folder.

    Args:
        name: of the deployment, unique for this user.

    Raises:
        LaunchError: that cannot be a name.
    """

    def __init__(self, name: str) -> None:
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}", name):
            raise LaunchError(f"{name!r} is no name for a deployment: letters, digits, '.', '_' and '-', at most 63")
        self.name = name
        self.path = base() / name

    @property
    def deployment_file(self) -> Path:
        """The file that the suite attaches through."""
        return self.path / DEPLOYMENT

    def create(self, record: Record) -> None:
        """Make the folder for a new deployment, after removing what a dead one of the same name left.

        Raises:
            LaunchError: a deployment of that name stands or is being made.
        """
        with _locked(base()):
            known = self.read()
            if known and (known.running or known.starting):
                raise LaunchError(
                    f"the embedded deployment '{self.name}' is already there ({self.path}); "
                    f"use it, choose another --name, or end it: python -m shakedown down {self.name}"
                )
            shutil.rmtree(self.path, ignore_errors=True)
            self.path.mkdir(mode=0o700)
            self.write(record)

    def read(self) -> Record | None:
        """What is recorded, or None where there is no deployment of that name."""
        try:
            return Record.model_validate_json((self.path / _RECORD).read_bytes())
        except (FileNotFoundError, NotADirectoryError, ValidationError):
            return None

    def write(self, record: Record) -> None:
        """Record it, in one step."""
        draft = self.path / f"{_RECORD}.draft"
        draft.write_text(record.model_dump_json(indent=1))
        draft.replace(self.path / _RECORD)

    def remove(self) -> None:
        """End the deployment and remove its folder; works on whatever is left of it.

        Raises:
            LaunchError: a process could not be ended.
        """
        record = self.read()
        for process in (record.hub, record.namespaces) if record else ():
            if process and not kill(process):
                raise LaunchError(f"process {process.pid} of the embedded deployment '{self.name}' does not end")
        shutil.rmtree(self.path, ignore_errors=True)
        with contextlib.suppress(OSError):  # others are in it
            self.path.parent.rmdir()


def known() -> list[StateFolder]:
    """The deployments of this user, dead ones included, by name."""
    folder = base()
    return [StateFolder(path.name) for path in sorted(folder.iterdir())] if folder.is_dir() else []


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Hold the folder alone; made when missing."""
    while True:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            if folder.is_dir() and folder.stat().st_ino == os.fstat(handle).st_ino:
                yield
                return
        finally:
            os.close(handle)
