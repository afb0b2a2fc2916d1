"""The status file of a whole launch: also before its model is followed, and where it never came to that."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from shakedown.errors import LaunchError
from shakedown.inventory.load import load_deployment
from shakedown.launch.attend import FailedLaunchError
from shakedown.launch.launching import Launchable
from shakedown.launch.start import StartError
from shakedown.launch.status import State, Status, write
from shakedown.outcomes import Stage


@contextmanager
def reported(target: Launchable, file: Path | None) -> Iterator[None]:
    """Keep the file true while the block takes the target further: it may still say how an earlier launch ended.

    Args:
        target: what is launched.
        file: of `--json-status`; None where none is wanted.

    Raises:
        OSError: the file cannot be written.
    """
    if file is None:
        yield
        return
    name = load_deployment(target.file).name
    is_ready = target.stage is Stage.SERVING
    write(Status(name, State.READY if is_ready else State.WAITING, time.time(), settled=is_ready), file)
    try:
        yield
    except FailedLaunchError:
        raise  # who followed it has written it
    except LaunchError as error:
        explanation = error.explanation if isinstance(error, StartError) else None
        status = Status(name, State.FAILED, time.time(), settled=True, explanation=explanation, notes=(str(error),))
        write(status, file)
        raise
