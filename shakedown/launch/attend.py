"""A launch attended from here on: its streams are opened, its watch is driven, and what it leaves is kept."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from pydantic import ValidationError

from shakedown.engines.vllm import phases
from shakedown.errors import LaunchError
from shakedown.faults import exit_codes, signatures
from shakedown.files import write_atomically
from shakedown.inventory.model import Deployment
from shakedown.launch.follow import Asking, follow
from shakedown.launch.gather import gatherer
from shakedown.launch.history import History, kind_of
from shakedown.launch.limits import Limits
from shakedown.launch.live import Show, explained, in_words
from shakedown.launch.ready import prove
from shakedown.launch.status import State, Status, write
from shakedown.launch.streams import Streams
from shakedown.launch.timeline import launched, timeline_of
from shakedown.launch.watch import Watch
from shakedown.report.timeline import TimelineRecord
from shakedown.text import printable_lines

LATEST = "latest-start.json"
"""Name of the file in the state folder that holds the time line of the latest start that was seen whole."""

WORDS = tuple(dict.fromkeys((*phases.WORDS, *signatures.words())))
"""A line that means something holds one of these; the nodes look for them in what was written before."""


@dataclass(frozen=True, slots=True)
class Options:
    """How a launch is attended.

    Attributes:
        limits: when silence counts.
        deadline_s: how long at most, s; None without end.
        json_status: file that is rewritten with every change.
    """

    limits: Limits = field(default_factory=Limits)
    deadline_s: float | None = None
    json_status: Path | None = None


def attend(deployment: Deployment, show: Show, options: Options | None = None, since: float | None = None) -> Status:
    """Follow a launch until it is ready, has failed, stands still or was ended; then keep what it leaves.

    Args:
        deployment: what is launched; its nodes are only read.
        show: told every status.
        options: see there.
        since: when we began the launch, seconds since the epoch; None where somebody else did.

    Returns:
        The last status.

    Raises:
        OSError: the status file or the state folder cannot be written.
        MissingPrerequisiteError: the variable of the API key is not set.
    """
    options = options or Options()
    history = History.of(deployment)
    watch = Watch(deployment, options.limits, history.launches(kind_of(deployment)), since)
    asking = Asking(partial(prove, deployment), gatherer(deployment))
    writer = StatusFile(options.json_status)

    def tell(status: Status) -> None:
        writer.tell(status)
        show(status)

    with Streams(deployment, WORDS) as streams:
        status = follow(watch, streams.events, asking, tell, deadline_s=options.deadline_s)
    if status.state is State.READY and watch.known.moves_now:
        _keep(watch, history)
    return status


class FailedLaunchError(LaunchError):
    """A launch that was followed and did not become ready.

    Args:
        status: its last.
        left: what has become of what was started, in a line; empty where nothing was started from here.

    Attributes:
        status: the same.
    """

    def __init__(self, status: Status, left: str = "") -> None:
        super().__init__("\n".join(filter(None, (farewell(status), left))))
        self.status = status
        self.exit_code = exit_code_of(status)


def require_ready(status: Status, left: str = "") -> None:
    """Go on only with a launch that is ready.

    Raises:
        FailedLaunchError: it is not; with the reason in lines for people, and what is left of it.
    """
    if status.state is not State.READY:
        raise FailedLaunchError(status, left)


def farewell(status: Status) -> str:
    """The last words about a launch: its state, and why."""
    first = f"{status.deployment}: {in_words(status)}"
    if status.explanation:
        return "\n".join([first, printable_lines("\n".join(explained(status.explanation)))])
    return "\n".join([first, *(f"  {note}" for note in status.notes)])


def exit_code_of(status: Status) -> int:
    """The exit code of `launch` and `watch`."""
    if status.state is State.READY:
        return exit_codes.READY
    if status.state is State.ENDED:
        return exit_codes.ENDED
    if status.state is State.FAILED:
        return exit_codes.exit_code(status.explanation.fault if status.explanation else None)
    return exit_codes.STALL if status.state is State.STALLED else exit_codes.DEADLINE


class StatusFile:
    """Rewrites a file when the status says something new, and once a second so that a reader sees it is alive."""

    def __init__(self, file: Path | None) -> None:
        self._file = file
        self._told: Status | None = None

    def tell(self, status: Status) -> None:
        """Write the status, if that is due."""
        before = self._told
        if self._file and (before is None or _differs(before, status) or status.updated_at >= before.updated_at + 1):
            write(status, self._file)
            self._told = status


def _differs(before: Status, now: Status) -> bool:
    """In what a reader acts upon; the last status is often told within a second of the one before."""
    return (before.state, before.settled, before.explanation) != (now.state, now.settled, now.explanation)


def latest_timeline(state: Path) -> TimelineRecord | None:
    """The time line of the latest start that was followed from here; None where there is none that can be read."""
    try:
        return TimelineRecord.model_validate_json((state / LATEST).read_text(encoding="utf-8"))
    except (OSError, ValidationError):
        return None


def _keep(watch: Watch, history: History) -> None:
    """The record of launches and the latest time line; only of a start that was seen to move, from its beginning."""
    whole, timeline = launched(watch.known), timeline_of(watch.known)
    if whole is not None:
        history.add(whole)
    if timeline is not None:
        folder = watch.known.deployment.state
        folder.mkdir(parents=True, exist_ok=True)
        write_atomically(folder / LATEST, timeline.model_dump_json(indent=2) + "\n")
