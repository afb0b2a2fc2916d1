"""Many commands in one shell script, and their answers cut out of the one stream that comes back.

For every command the node prints one line

    @ NUMBER START BASE64

and after the last one of a row ``@end TIME``. The encoded bytes are the command's standard output, its standard error
(without NUL bytes, which a shell's variables do not hold), a newline, the exit code, a newline, and how many bytes
the standard error and the exit code have together. Nothing a command prints can look like a frame, a command may print
anything of any size, and one that kills its own shell costs nobody else's answer. No file is written on the node; it
needs ``sh``, ``base64``, ``cat``, ``timeout`` and ``date``, a container ``sh`` and ``timeout``.

What surrounds a command is most of what a short one costs a node, so it starts as few processes as it can.

Rows are worked through side by side and told one after the other, in the order in which they were given: what only
waits, as an echo does, costs no time beside what computes.
"""

from __future__ import annotations

import base64
import binascii
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from shakedown.errors import EvidenceError

_PROLOGUE = r"""
export LC_ALL=C PATH="$PATH:/usr/sbin:/sbin"
ask() {
    printf '@ %s %s ' "$1" "$(date +%s.%N)"
    {
        said=$(timeout -k 2 "$2" sh -c "$3" </dev/null 2>&1 >&4 4>&-; printf '\n%s' "$?")
        printf '%s\n%s' "$said" "${#said}"
    } 4>&1 | base64 -w 0
    printf '\n'
}
end() { printf '@end %s\n' "$(date +%s.%N)"; }
"""

Row = Sequence[tuple[str, int]]
"""Commands that are run one after the other: text, and limit in seconds."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One decoded answer.

    Attributes:
        number: position of the command in the script, from 0.
        time: the node's clock when the command began, seconds since the epoch; None where it could not tell.
        stdout, stderr, exit_code: of the command.
    """

    number: int
    time: float | None
    stdout: bytes
    stderr: bytes
    exit_code: int


@dataclass(frozen=True, slots=True)
class End:
    """A row came to its end, at that time of the node's clock."""

    time: float | None


def script_of(*rows: Row) -> str:
    """The script that answers rows of commands side by side; numbers count on from row to row.

    The very first command runs alone: it may ask for the clock, and what runs beside it would blur the answer.
    The first row prints as it goes. Every other is the left side of a pipe around it, and holds its answers back until
    those before it are out; it keeps them in a variable, so that a full pipe stops no command.

    The commands stand in braces: the shell reads the whole script before it runs the first.
    """
    (alone, *first), *others = _calls(rows)
    text = "\n".join(first)
    for row in others:
        calls = "\n".join(row)
        text = f"{{ said=$(\n{calls}\n); printf '%s\\n' \"$said\"; }} | {{\n{text}\ncat\n}}"
    return f"{{{_PROLOGUE}{alone}\n{text}\n}}\n"


def _calls(rows: Sequence[Row]) -> Iterator[list[str]]:
    number = 0
    for row in rows:
        lines = []
        for text, limit_s in row:
            lines.append(f"ask {number} {limit_s} {shlex.quote(text)}")
            number += 1
        yield [*lines, "end"]


def parse(line: bytes) -> Frame | End | None:
    """One line of the stream; None for a line that is no frame (a login banner, say).

    Raises:
        EvidenceError: a frame that is cut or garbled.
    """
    if line.startswith(b"@end "):
        return End(_seconds(line.split()[1:]))
    if not line.startswith(b"@ "):
        return None
    fields = line.split(b" ")
    try:
        if len(fields) != 4 or not line.endswith(b"\n"):
            raise ValueError("cut off")
        printed, _, length = base64.b64decode(fields[3].strip(), validate=True).rpartition(b"\n")
        stdout, said = printed[: len(printed) - int(length)], printed[len(printed) - int(length) :]
        stderr, _, exit_code = said.rpartition(b"\n")
        return Frame(int(fields[1]), _seconds(fields[2:3]), stdout, stderr, int(exit_code))
    except (ValueError, binascii.Error) as error:
        raise EvidenceError(f"the answer to command {fields[1].decode(errors='replace')} was {error}") from error


def _seconds(fields: list[bytes]) -> float | None:
    try:
        return float(fields[0])
    except (IndexError, ValueError):
        return None
