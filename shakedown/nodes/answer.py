"""A question to a node, and what the node said."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from enum import StrEnum
from importlib import resources

from shakedown.errors import EvidenceError

TIMED_OUT = 124
"""Exit code of ``timeout`` when the command ran past its limit."""

CUT_OFF = 256
"""Exit code, which no command can have, of one that printed more than it may and was cut off."""

MOST_BYTES = 16 * 1024 * 1024
"""What a command may print: a thousand times the longest answer of the recorded pairs. Ours."""


LONGEST_NAME = 80


class Place(StrEnum):
    """Where on a node a command runs; without a declared container both are the machine."""

    MACHINE = "machine"
    ENGINE = "engine"


@dataclass(frozen=True, slots=True)
class Command:
    """A shell command that only reads.

    Attributes:
        text: what ``sh -c`` gets.
        place: on the machine, or where Ray and the engine run.
        limit_s: seconds after which it is ended.
        most_bytes: what it may print, on both streams together; what goes beyond is cut off, and the command ended.
        key: name under which the answer is kept and found again. It is the text, unless the text holds a whole script
            or a path of one particular machine, which would make bundles unreadable and tie them to that machine.
        row: commands of one row are run one after the other, the rows of a node side by side. A row of its own is for
            what waits rather than computes; most commands share one.
    """

    text: str
    place: Place = Place.MACHINE
    limit_s: int = 10
    most_bytes: int = MOST_BYTES
    key: str = field(default="")
    row: str = ""

    def __post_init__(self) -> None:
        if not self.key:
            object.__setattr__(self, "key", self.text)

    @property
    def name(self) -> str:
        """The key as a message has it: one line, not too long."""
        line = self.key.splitlines()[0]
        return line if len(line) <= LONGEST_NAME else f"{line[:LONGEST_NAME]}..."

    def unfinished(self, node: str, exit_code: int) -> EvidenceError | None:
        """What was answered is no answer, where the command was not let run to its end."""
        if exit_code == TIMED_OUT:
            return EvidenceError(
                f"`{self.name}` on {node} did not end within {self.limit_s} s",
                f"see there where `{self.name}` hangs: a dead mount, a driver that does not answer, a machine too busy",
            )
        if exit_code == CUT_OFF:
            return EvidenceError(
                f"`{self.name}` on {node} printed more than {self.most_bytes} bytes and was cut off",
                f"see there what `{self.name}` prints without end",
            )
        return None


def python_script(
    name: str,
    python: str,
    *arguments: str,
    place: Place = Place.ENGINE,
    limit_s: int = 20,
    as_engine_user: bool = False,
) -> Command:
    """A file of ``shakedown/nodes/scripts`` as a command for the node's own Python.

    Args:
        name: file name without suffix. Its first line is ``# revision: N``: a script that answers another question
            than before gets another number, so that an old bundle is not read by new rules.
        python: interpreter on the node.
        arguments: of the script; part of the key.
        place: see :class:`Command`.
        limit_s: see :class:`Command`.
        as_engine_user: whether, where `sudo` makes commands run as root, the user who starts the engine is to look.
    """
    source = _source(name)
    revision = source.splitlines()[0].removeprefix("# revision:").strip()
    sources = [_source("engine_user"), source] if as_engine_user else [source]
    return Command(
        shlex.join([python, "-B", "-c", *sources, *arguments]),
        place,
        limit_s,
        key=shlex.join(["python", f"{name}/{revision}", *arguments]),
    )


def _source(name: str) -> str:
    return resources.files("shakedown.nodes.scripts").joinpath(f"{name}.py").read_text(encoding="utf-8")


@dataclass(frozen=True, slots=True)
class Answer:
    """What a node said to one command.

    Attributes:
        key: of the command, see there.
        place: of the command.
        exit_code: the command's; `TIMED_OUT` where it ran past its limit, `CUT_OFF` where it printed too much.
        stdout, stderr: as printed, secrets blotted out.
        started: the node's clock when the command began, seconds since the epoch; None where it could not tell.
        duration_s: by the node's clock; None where it could not tell.
        asked, answered: this machine's clock when the question left and when the answer was complete.
        ahead: fetched ahead with others in one round trip, not asked alone.
    """

    key: str
    place: Place
    exit_code: int
    stdout: bytes
    stderr: bytes
    started: float | None
    duration_s: float | None
    asked: float
    answered: float
    ahead: bool = False

    @property
    def text(self) -> str:
        """Standard output as text; what is no UTF-8 is shown as such."""
        return self.stdout.decode("utf-8", errors="replace")

    @property
    def complaint(self) -> str:
        """Why the command failed, in its own words, for a message; empty if it said nothing."""
        said = self.stderr.decode("utf-8", errors="replace").strip() or self.text.strip()
        return said.splitlines()[-1] if said else ""
