"""Bytes of a log, in whatever pieces they come, as lines for people."""

from __future__ import annotations

import re
from collections.abc import Iterator

LONGEST = 16 * 2**10
"""Bytes of a line that are kept; what is longer is data that somebody printed."""

CUT = " [cut: the line is longer than 16 KiB]"

_ENDINGS = re.compile(rb"[\r\n]+")
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\^_])")
"""Control sequences of terminals: colours and movements (CSI), titles and links (OSC), and those of one letter."""


class Splitter:
    """Takes pieces in and gives whole lines out; the same lines however the text is cut into pieces.

    A bar that redraws itself with carriage returns gives a line for each time it was drawn. Blank lines say nothing and
    are left out.
    """

    def __init__(self) -> None:
        self._rest = b""

    @property
    def waits(self) -> bool:
        """Whether a line has begun that has not ended."""
        return bool(self._rest.strip())

    def feed(self, piece: bytes) -> list[str]:
        """Lines that end in this piece."""
        *whole, rest = _ENDINGS.split(piece)
        if whole:
            whole[0] = self._rest + whole[0]
            self._rest = b""
        self._rest = (self._rest + rest)[: LONGEST + 1]  # one more, to know that it is too long
        return list(_texts(whole))

    def flush(self) -> list[str]:
        """What has begun, as if it ended here; what follows is a line of its own."""
        rest, self._rest = self._rest, b""
        return list(_texts([rest]))


def lines_of(text: str) -> list[str]:
    """The lines of a whole text, as :class:`Splitter` gives them."""
    return Splitter().feed(text.encode(errors="replace") + b"\n")


def _texts(lines: list[bytes]) -> Iterator[str]:
    for line in lines:
        text = _ESCAPES.sub("", line[:LONGEST].decode(errors="replace")).rstrip()
        if text.strip():
            yield text + (CUT if len(line) > LONGEST else "")
