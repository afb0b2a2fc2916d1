"""How answers are read: what counts as the same text, the same number, the same object."""

from __future__ import annotations

import json
import re
from typing import Any

from shakedown.serving.tasks.item import Answer, Unparsable

_WRAPPERS = (("```", "```"), ("**", "**"), ("`", "`"), ('"', '"'), ("'", "'"), ("“", "”"))
_FENCE = re.compile(r"```(?:json)?\s*(.*?)\s*```", re.DOTALL)
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?![\w]|\.\d)")


def bare_text(answer: Answer) -> str:
    """The content without outer white space and without quotes or mark-up around the whole of it.

    Raises:
        Unparsable: nothing is left.
    """
    return _unwrapped(answer.content.strip())


def single_word(answer: Answer) -> str:
    """As `bare_text`, and a full stop at the end does not count.

    Raises:
        Unparsable: nothing is left.
    """
    return _unwrapped(answer.content.strip().removesuffix(".")).removesuffix(".")


def _unwrapped(text: str) -> str:
    for left, right in _WRAPPERS:
        if len(text) > len(left) + len(right) and text.startswith(left) and text.endswith(right):
            text = text[len(left) : -len(right)].strip()
    if not text:
        raise Unparsable("no text")
    return text


def integers(answer: Answer) -> list[int]:
    """Every whole number in the content, in order; a typographic minus counts as one.

    Raises:
        Unparsable: there is none.
    """
    found = [int(number) for number in _NUMBER.findall(answer.content.replace("\u2212", "-"))]
    if not found:
        raise Unparsable("no number")
    return found


def last_integer(answer: Answer) -> str:
    """The last whole number: a model that shows its work ends with the result."""
    return str(integers(answer)[-1])


def json_object(answer: Answer) -> dict[str, Any]:
    """The content as a JSON object, out of a code fence if it stands in one.

    Raises:
        Unparsable: the content is not JSON, or not an object.
    """
    fenced = _FENCE.search(answer.content)
    try:
        value = json.loads(fenced[1] if fenced else answer.content)
    except json.JSONDecodeError as error:
        raise Unparsable(f"no JSON: {error}") from error
    if not isinstance(value, dict):
        raise Unparsable(f"JSON, but a {type(value).__name__} and no object")
    return value
