"""Many commands in one shell script, and their answers cut out of the one stream that comes back.

For every command the node prints one line

    @ NUMBER START BASE64

and after the last one of a row ``@end TIME``. The encoded bytes are the command's standard output, its standard error
(without NUL bytes, which a shell's variables do not hold), a newline, the exit code, a newline, how many bytes the
standard error and the exit code have together, and ``@``. Nothing a command prints can look like a frame, a command may
print anything, and one that kills its own shell costs nobody else's answer. No file is written on the node; it needs
``sh``, ``base64``, ``cat``, ``head``, ``timeout`` and ``date``, a container ``sh`` and ``timeout``.

A command that prints without end is cut off on the node: its standard output by ``head``, and what the shell holds of
its standard error by the shell's own memory limit. Then what follows the standard output is missing, and nothing else.

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
from typing import NamedTuple

from shakedown.errors import EvidenceError

_PROLOGUE = r"""
export LC_ALL=C PATH="$PATH:/usr/sbin:/sbin"
memory=$(ulimit -S -v)
ask() {
    printf '@ %s %s ' "$1" "$(date +%s.%N)"
    {
        ulimit -S -v SHELL_KIB
        said=$(ulimit -S -v $memory; timeout -k 2 "$2" sh -c "$4" </dev/null 2>&1 >&4 4>&-; printf '\n%s' "$?")
        printf '%s\n%s@' "$said" "${#said}"
    } 4>&1 2>/dev/null | head -c "$3" | base64 -w 0
    printf '\n'
}
end() { printf '@end %s\n' "$(date +%s.%N)"; }
""".replace("SHELL_KIB", str(128 * 1024))
"""A shell needs less than 10 MiB for itself, and doubles what it holds when that does not suffice any more."""


class Asked(NamedTuple):
    """A command as the script has it: what ``sh`` gets, and when it is cut off, in seconds and in bytes printed."""

    text: str
    limit_s: int
    most_bytes: int


Row = Sequence[Asked]
"""Commands that are run one after the other."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One decoded answer.

    Attributes:
        number: position of the command in the script, from 0.
        time: the node's clock when the command began, seconds since the epoch; None where it could not tell.
        stdout, stderr, exit_code: of the command.
        cut: it printed more than it may; ``stdout`` is what came before, and the others say nothing.
    """

    number: int
    time: float | None
    stdout: bytes
    stderr: bytes
    exit_code: int
    cut: bool = False


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
        for asked in row:
            lines.append(f"ask {number} {asked.limit_s} {asked.most_bytes} {shlex.quote(asked.text)}")
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
        number, began = int(fields[1]), _seconds(fields[2:3])
        content = base64.b64decode(fields[3].strip(), validate=True)
    except (ValueError, binascii.Error) as error:
        raise EvidenceError(f"the answer to command {fields[1].decode(errors='replace')} was {error}") from error
    apart = _apart(content)
    return Frame(number, began, *apart) if apart else Frame(number, began, content, b"", 0, cut=True)


def _apart(content: bytes) -> tuple[bytes, bytes, int] | None:
    """Standard output, standard error and exit code; None where what follows the first is missing."""
    if not content.endswith(b"@"):
        return None
    printed, _, length = content[:-1].rpartition(b"\n")
    if not length.isdigit() or int(length) > len(printed):
        return None
    boundary = len(printed) - int(length)
    stderr, _, exit_code = printed[boundary:].rpartition(b"\n")
    return (printed[:boundary], stderr, int(exit_code)) if exit_code.isdigit() else None


def _seconds(fields: list[bytes]) -> float | None:
    try:
        return float(fields[0])
    except (IndexError, ValueError):
        return None
