"""Bring a launch about, act on it, and see what is told of it."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from selftests.proofs.launches.model import Act, Launch, Scene, told
from selftests.proofs.launches.witness import Witness
from shakedown.embedded.up import Options, start
from shakedown.errors import LaunchError
from shakedown.inventory.load import load_deployment
from shakedown.inventory.model import Deployment
from shakedown.launch.attend import Options as Attending
from shakedown.launch.launching import Declared
from shakedown.launch.live import Show
from shakedown.launch.start import StartError
from shakedown.launch.status import Explanation, State, Status
from shakedown.outcomes import Stage

LIMIT_S = 240.0
"""A launch here takes half a minute, and the longest standstill that is looked for two."""


@dataclass(slots=True)
class Seen:
    """What a launch showed.

    Attributes:
        states: all that it went through, in order.
        told: everything that was told of a failure or a standstill, as fault and node, in order.
        status: the last.
        right: what was told that is so; None before.
        phase: in which it was when the verdict was given.
        lag_s: from the first sign to the verdict, s; None where nothing was told.
        took_s: from the start of the server (or of Ray) to the verdict, s.
        wrong: why it does not hold; empty where it holds.
        text: the last words to the operator.
    """

    states: list[str] = field(default_factory=list)
    told: list[str] = field(default_factory=list)
    status: Status | None = None
    right: Explanation | None = None
    phase: str = ""
    lag_s: float | None = None
    took_s: float = 0.0
    wrong: list[str] = field(default_factory=list)
    text: str = ""


class Watcher:
    """Told every status: does what is due, and notes what is told."""

    def __init__(self, launch: Launch, scene: Scene) -> None:
        self._launch = launch
        self._scene = scene
        self._due = list(launch.acts)
        self.began = time.time()
        self.done_at: dict[str, float] = {}
        self.seen = Seen()
        self.right_at: float | None = None

    def told_by(self, explanation: Explanation, now: float) -> None:
        """Take in what a command that failed was said to have failed by."""
        _once(self.seen.told, _named(explanation))
        self._found(explanation, now)

    def show(self, status: Status) -> None:
        """Take in a status."""
        now = time.time()
        self.seen.status = status
        _once(self.seen.states, status.state.value)
        if status.explanation is not None:
            _once(self.seen.told, _named(status.explanation))
            if self.right_at is None and self._is_right(status):
                self._found(status.explanation, now)
                self.seen.phase = status.phase
        for act in [act for act in self._due if act.at.reached(status)]:
            self._due.remove(act)
            self.done_at[act.text] = time.time()
            act.do(self._scene)

    def _found(self, explanation: Explanation, now: float) -> None:
        self.right_at, self.seen.right, self.seen.took_s = now, explanation, now - self.began

    @property
    def undone(self) -> Sequence[Act]:
        """What the launch gave no occasion for."""
        return self._due

    def _is_right(self, status: Status) -> bool:
        why = status.explanation
        return why is not None and status.state is self._launch.outcome and _named(why) in self._launch.wanted


def observe(launch: Launch, workdir: Path) -> Seen:
    """Launch it on a deployment of its own."""
    options = Options(fault=launch.shape, slow_load_s=launch.slow_load_s, owned=True)
    with start(options) as running:
        if launch.stage is Stage.SERVING:
            running.reach(Stage.RAY)
        head, worker = running.nodes
        scene = Scene(head, worker, running.file, _aside(running.file, workdir))
        if launch.before:
            launch.before(scene)
        watcher = Watcher(launch, scene)
        with _witnessed(scene) as witness:
            error = _launched(launch, watcher, scene)
            for end in scene.ends:
                _noting(watcher.seen, end)
        return _judged(launch, watcher, witness, error)


def _launched(launch: Launch, watcher: Watcher, scene: Scene) -> LaunchError | None:
    """By the way of `python -m shakedown launch`; returns what it ended with."""
    target = Declared(scene.file, scene.deployment)

    @contextmanager
    def display() -> Iterator[Show]:
        yield watcher.show

    watcher.began = time.time()
    try:
        if launch.stage is Stage.RAY:
            target.form_cluster(lambda _: None)
        else:
            target.serve(lambda _: None, display, Attending(deadline_s=LIMIT_S))
    except LaunchError as error:
        return error
    return None


def _aside(file: Path, workdir: Path) -> Deployment:
    """The deployment, with the record of its launches where nobody else looks for it."""
    deployment = load_deployment(file)
    head = deployment.deployment.model_copy(update={"state": str(workdir / "state")})
    return deployment.model_copy(update={"deployment": head})


@contextmanager
def _witnessed(scene: Scene) -> Iterator[Witness]:
    witness = Witness((scene.head, scene.worker))
    witness.start()
    try:
        yield witness
    finally:
        witness.stop()


def _judged(launch: Launch, watcher: Watcher, witness: Witness, error: LaunchError | None) -> Seen:
    seen, now = watcher.seen, time.time()
    if isinstance(error, StartError) and error.explanation:
        watcher.told_by(error.explanation, now)
    seen.text = str(error or "")
    seen.took_s = seen.took_s or now - watcher.began
    seen.lag_s = _lag_s(launch, watcher, witness)
    seen.wrong += [f"there was no occasion to {act.text}" for act in watcher.undone]
    if launch.is_healthy:
        seen.wrong += _wrong_of_healthy(seen, error)
    else:
        seen.wrong += _wrong_of_failing(launch, seen)
    return seen


def _wrong_of_healthy(seen: Seen, error: LaunchError | None) -> Iterator[str]:
    condemned = [state for state in seen.states if state not in (State.WAITING, State.RUNNING, State.READY)]
    if condemned or seen.told:
        yield f"condemned on the way: {', '.join([*condemned, *seen.told])}"
    if error is not None or seen.states[-1:] != [State.READY]:
        yield f"did not become ready: {error or seen.states}"


def _wrong_of_failing(launch: Launch, seen: Seen) -> Iterator[str]:
    if not seen.told or seen.told[-1] not in launch.wanted:
        yield f"told {' then '.join(seen.told) or 'nothing'}, not {' or '.join(launch.wanted)}"
    elif seen.lag_s is None or seen.lag_s > launch.within_s:
        yield f"told {seen.lag_s} s after the first sign, not within {launch.within_s} s"
    elif len(seen.told) > 1:
        yield f"told {' then '.join(seen.told)}: the first word was wrong"
    if not re.search(launch.says, seen.text):
        yield f"what is told does not say /{launch.says}/"


def _lag_s(launch: Launch, watcher: Watcher, witness: Witness) -> float | None:
    """From the first sign: what was done, else when the line that tells it was written, else when silence began."""
    why = watcher.seen.right
    if watcher.right_at is None or why is None:
        return None
    done = [watcher.done_at[act.text] for act in launch.acts if act.is_sign and act.text in watcher.done_at]
    first = done[0] if done else witness.written(why.line) if why.line else None
    return max(0.0, round(watcher.right_at - (why.at if first is None else first), 2))


def _named(explanation: Explanation) -> str:
    return told(explanation.fault, explanation.node)


def _once(words: list[str], word: str) -> None:
    """Note it where it is not the last."""
    if words[-1:] != [word]:
        words.append(word)


def _noting(seen: Seen, end: Callable[[], None]) -> None:
    try:
        end()
    except AssertionError as error:
        seen.wrong.append(str(error))
