"""One round trip: a script with many commands goes to a node, their answers come back as they are ready."""

from __future__ import annotations

import shlex
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from shakedown.errors import NodeUnreachableError
from shakedown.nodes.advice import advice
from shakedown.nodes.answer import CUT_OFF, Answer, Command, Place
from shakedown.nodes.framing import Asked, End, Frame, parse, script_of
from shakedown.nodes.redact import redact
from shakedown.nodes.session import Session
from shakedown.nodes.transport import DockerExec, Transport

READY = "@ready"
"""What the node says once the connection stands: asked from then on, its clock is known to the millisecond."""

KILL_AFTER_S = 2
"""Seconds that a command in a container which ran past its limit has to end by itself, as on the machine."""

ENTER_S = 5
"""Seconds more that the machine allows a command in a container: docker needs a part of one to start it, and the limit
inside must be the first to pass, so that nothing runs on when the answer is given."""


@dataclass(frozen=True, slots=True)
class Reach:
    """The two places of one node, and the way to them.

    Attributes:
        node: the node's name, for messages.
        machine: transport to the machine.
        container: transport to the container in which Ray and the engine run; None where there is none.
    """

    node: str
    machine: Transport
    container: DockerExec | None = None

    def text(self, command: Command) -> str:
        """The command as a shell of the machine runs it.

        In a container it has a limit of its own: what ends ``docker exec`` on the machine leaves running what that
        had started in the container.
        """
        if self.container and command.place is Place.ENGINE:
            limited = ["timeout", "-k", str(KILL_AFTER_S), str(command.limit_s), "sh", "-c", command.text]
            return self.container.wrap(f"exec {shlex.join(limited)}")
        return command.text

    def limit_s(self, command: Command) -> int:
        """Seconds after which the machine ends the command, or its way into the container."""
        return command.limit_s + (ENTER_S if self.container and command.place is Place.ENGINE else 0)

    def asked(self, command: Command) -> Asked:
        """The command as a script for the machine has it."""
        return Asked(self.text(command), self.limit_s(command), command.most_bytes)


def round_trip(reach: Reach, commands: Sequence[Command], *, ahead: bool) -> Iterator[Answer]:
    """Ask a node all commands at once; each answer is yielded as soon as the node goes on to the next, row by row.

    Raises:
        NodeUnreachableError: the node did not answer at all, or vanished half-way; answers that came are not lost.
        EvidenceError: a frame that is cut or garbled.
    """
    rows = _rows(commands)
    script = script_of(*([reach.asked(command) for command in row] for row in rows))
    commands = [command for row in rows for command in row]
    try:
        session = Session(reach.machine.argv(f"echo {READY}; exec sh -s"), commands[0].limit_s)
    except OSError as error:
        raise NodeUnreachableError(f"{reach.node} over {reach.machine}: {error}") from error
    with session:
        lines = session.lines()
        received = 0
        if any(line.strip() == READY.encode() for line, _ in lines):
            asked = time.time()
            session.send(script)
            for frame, began, arrived in _timed(lines, session, _patience(rows)):
                received += 1
                yield _answer(commands[frame.number], frame, began, (asked, arrived), ahead=ahead)
        if received < len(commands):
            raise NodeUnreachableError(_why(reach, session, commands, received))
        session.finish()


def _rows(commands: Sequence[Command]) -> list[list[Command]]:
    """The commands by row, in the order in which they are told."""
    rows: dict[str, list[Command]] = {}
    for command in commands:
        rows.setdefault(command.row, []).append(command)
    return list(rows.values())


def _patience(rows: Sequence[Sequence[Command]]) -> list[int]:
    """Seconds within which each answer must follow the one before it; a row that is held back comes as a whole."""
    first, *others = rows
    held_back = (sum(command.limit_s for command in row) for row in others for _ in row)
    return [*(command.limit_s for command in first), *held_back]


def _timed(
    lines: Iterator[tuple[bytes, float]], session: Session, patience: Sequence[int]
) -> Iterator[tuple[Frame, float | None, float]]:
    """Frames with the time at which the node went on (None if it never did), and the time at which they arrived."""
    waiting: tuple[Frame, float] | None = None
    received = 0
    for line, arrived in lines:
        if not line.endswith(b"\n"):
            break  # the connection broke in the middle of an answer; those before it are whole
        frame = parse(line)
        if waiting and frame:
            yield waiting[0], frame.time, waiting[1]
            waiting = None
        if isinstance(frame, End):
            if received == len(patience):
                return
        elif frame:
            received += 1
            waiting = frame, arrived
            session.expect_within(patience[min(frame.number + 1, len(patience) - 1)])
    if waiting:
        yield waiting[0], None, waiting[1]


def _answer(
    command: Command, frame: Frame, went_on: float | None, travelled: tuple[float, float], *, ahead: bool
) -> Answer:
    took = None if frame.time is None or went_on is None else round(went_on - frame.time, 6)
    return Answer(
        key=command.key,
        place=command.place,
        exit_code=CUT_OFF if frame.cut else frame.exit_code,
        stdout=redact(frame.stdout),
        stderr=redact(frame.stderr),
        started=frame.time,
        duration_s=took,
        asked=travelled[0],
        answered=travelled[1],
        ahead=ahead,
    )


def _why(reach: Reach, session: Session, commands: Sequence[Command], received: int) -> str:
    way = f"{reach.node} over {reach.machine}"
    if session.timed_out:
        return f"{way}: silent for too long at `{commands[received].key}`; the connection was ended"
    said = session.farewell()
    if received == 0:
        return f"{way} does not answer: {said}{advice(said)}"
    return f"{way} vanished after {received} of {len(commands)} answers: {said}"
