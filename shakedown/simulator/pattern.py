"""An example of what a regular expression matches: the shortest, by the parser of `re` itself."""

from __future__ import annotations

from http import HTTPStatus
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

from shakedown.simulator.errors import ApiError

_CATEGORIES = {
    codes.CATEGORY_DIGIT: "0",
    codes.CATEGORY_WORD: "a",
    codes.CATEGORY_SPACE: " ",
    codes.CATEGORY_NOT_DIGIT: "a",
    codes.CATEGORY_NOT_SPACE: "a",
    codes.CATEGORY_NOT_WORD: " ",
}


def example(pattern: str) -> str:
    """A short text that the pattern matches in full.

    Raises:
        ApiError: 400, the pattern uses what a grammar cannot express (look-around, back-references).
    """
    return _sequence(parser.parse(pattern))


def _sequence(nodes: Any) -> str:
    return "".join(_node(code, argument) for code, argument in nodes)


def _node(code: Any, argument: Any) -> str:
    if code is codes.LITERAL:
        return chr(argument)
    if code is codes.AT:
        return ""
    if code is codes.ANY:
        return "a"
    if code is codes.IN:
        return _of_class(argument)
    if code in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
        return _sequence(argument[2]) * int(argument[0])
    if code is codes.SUBPATTERN:
        return _sequence(argument[-1])
    if code is codes.BRANCH:
        return _sequence(argument[1][0])
    raise ApiError(HTTPStatus.BAD_REQUEST, f"regex: {code} is not supported by the grammar", param="structured_outputs")


def _of_class(items: Any) -> str:
    code, argument = items[0]
    if code is codes.NEGATE:
        raise ApiError(HTTPStatus.BAD_REQUEST, "regex: negated classes are not supported", param="structured_outputs")
    if code is codes.RANGE:
        return chr(argument[0])
    return _CATEGORIES[argument] if code is codes.CATEGORY else chr(argument)
