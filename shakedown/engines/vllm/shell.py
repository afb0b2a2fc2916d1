"""The start of a server as an operator writes it: shell text, with ``docker exec``, ``sh -c`` and variables."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping

from shakedown.engines.vllm.arguments import ServeCommand, parse_arguments

_ASSIGNMENT = re.compile(r"(?:--env=|-e)?([A-Za-z_]\w*)=(.*)", re.DOTALL)
_OPERATOR = re.compile(r"[();<>|&]+")
_STREAM = re.compile(r"(?<=\s)\d+(?=[<>])")
"""The number of a stream that is redirected, as in ``2>&1``; a number before a blank is an argument."""
_PIECE = re.compile(
    r"""'[^']*' | "(?:\\.|[^"\\])*" | (?P<joined>\\\n) | \\. | (?P<end>\n) | (?P<comment>(?<![^\s;|&()])\#[^\n]*)""",
    re.DOTALL | re.VERBOSE,
)
"""What a shell sees before it sees words: quotations, in which all stands for itself, joined lines, ends, comments."""
_READS = re.compile(r"--env-file\b|(?:^|[\s;&|('\"])(?:source|\.)\s|\b(?:ba|da|k|z)?sh\s+(?:--login|-[a-z]*l)")
"""Files of variables: of docker, of the shell, and the profiles that a login shell reads."""
_VARIABLE = re.compile(r"\$(?:\{(\w+)\}|(\w+))")


def parse_shell(text: str, environment: Mapping[str, str] | None = None) -> ServeCommand | None:
    """Shell text -> the first API server of vLLM that it starts, with the variables that the text sets for it.

    No shell runs: what is left of a variable that the text itself does not set stays as ``$NAME``.

    Args:
        text: one or several lines.
        environment: variables set by text around this one.

    Returns:
        The command; None where no server is started, or where the text is no shell text that can be taken apart.
    """
    known = dict(environment or {})
    for words in _simple_commands(text):
        words = [_expanded(word, known) for word in words]
        own = _assignments(words)
        nested = next((word for word in words if re.search(r"\bvllm\b", word) and re.search(r"\s", word)), None)
        found = parse_shell(nested, known | own) if nested else parse_arguments(words, known | own)
        if found:
            return found
        if words[:1] == ["export"] or len(own) == len(words):
            known |= own
    return None


def reads_variables(text: str) -> bool:
    """Whether shell text takes variables from files, which are not known to whoever reads the text alone."""
    return _READS.search(_PIECE.sub(lambda piece: "" if piece["comment"] else piece[0], text)) is not None


def _in_one_line(text: str) -> str:
    """Without comments; a new line inside a quotation stays, for it belongs to another shell."""

    def seen(piece: re.Match[str]) -> str:
        return " " if piece["joined"] else " ; " if piece["end"] else "" if piece["comment"] else piece[0]

    return _PIECE.sub(seen, text)


def _simple_commands(text: str) -> Iterator[list[str]]:
    """The words of one command after the other; a redirection and its target are none of them."""
    joined = _STREAM.sub("", _in_one_line(text))
    lexer = shlex.shlex(joined, posix=True, punctuation_chars=True)
    lexer.wordchars += "$:@%+,{}[]!^#"
    lexer.commenters = ""
    try:
        tokens = list(lexer)
    except ValueError:  # an open quotation mark
        return
    words: list[str] = []
    skip = False
    for token in tokens:
        if skip:
            skip = False
        elif not _OPERATOR.fullmatch(token):
            words.append(token)
        elif re.search(r"[<>]", token):
            skip = True
        elif words:
            yield words
            words = []
    if words:
        yield words


def _assignments(words: list[str]) -> dict[str, str]:
    """Variables that a command sets: before the program, after ``env`` or ``export``, or for a container by ``-e``."""
    end = next((index for index, word in enumerate(words) if word.rpartition("/")[2] == "vllm"), len(words))
    matches = (_ASSIGNMENT.fullmatch(word) for word in words[: end or len(words)])
    return {match[1]: match[2] for match in matches if match}


def _expanded(word: str, known: Mapping[str, str]) -> str:
    return _VARIABLE.sub(lambda match: known.get(match[1] or match[2], match[0]), word)
