"""Text of others, made fit to be shown: files, nodes and servers may say anything."""

from __future__ import annotations


def printable(text: str) -> str:
    """One line, with everything that a terminal or a browser might obey written as an escape."""
    return "".join(char if char.isprintable() else f"\\u{ord(char):04x}" for char in text)


def printable_lines(text: str) -> str:
    """The same for a text of several lines; they stay lines."""
    return "\n".join(printable(line.replace("\t", "    ")) for line in text.splitlines())
