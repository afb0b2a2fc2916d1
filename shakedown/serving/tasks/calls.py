"""How calls are read from an answer."""

from __future__ import annotations

import json
from typing import Any

from shakedown.serving.tasks.item import Answer, Unparsable


def calls(answer: Answer) -> list[dict[str, Any]]:
    """Name and arguments of every call, in order.

    Raises:
        Unparsable: there is none, or arguments are no JSON.
    """
    if not answer.tool_calls:
        raise Unparsable("0 tool calls")
    found = []
    for call in answer.tool_calls:
        try:
            found.append({"name": call.name, "arguments": json.loads(call.arguments)})
        except json.JSONDecodeError as error:
            raise Unparsable(f"arguments of {call.name} are no JSON: {error}") from error
    return found


def only_call(answer: Answer) -> dict[str, Any]:
    """The call, if there is exactly one.

    Raises:
        Unparsable: none, several, or arguments that are no JSON.
    """
    found = calls(answer)
    if len(found) != 1:
        raise Unparsable(f"{len(found)} tool calls")
    return found[0]


def no_call(answer: Answer) -> None:
    """Nothing, for an answer in words.

    Raises:
        Unparsable: it holds a call.
    """
    if answer.tool_calls:
        raise Unparsable(f"a call of {answer.tool_calls[0].name}")
