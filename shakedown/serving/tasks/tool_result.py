"""Calls were made and their results must reach the answer."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from shakedown.serving.tasks.calls import no_call
from shakedown.serving.tasks.codes import code, codes_in
from shakedown.serving.tasks.item import Answer, Key, MaxTokens, Message, Question, Tool, Unparsable, text_of
from shakedown.serving.tasks.parallel_calls import ParallelCalls
from shakedown.serving.tasks.reading import bare_text
from shakedown.serving.tasks.tool_use import ToolUse

_LENGTH = 12
_FIELDS = ("result", "value", "answer", "code", "reply", "output", "reference", "confirmation")
_OUTER = ("data", "response", "body", "report")
_BESIDE: dict[str, tuple[str | int | bool, ...]] = {
    "status": ("ok", "done", "success", "ready"),
    "source": ("cache", "server", "archive", "desk"),
    "count": tuple(range(1, 10)),
    "seconds": tuple(range(10, 100)),
    "fresh": (True, False),
}
_SENTENCES = ("Result: {}", "The result is {}.", "Done. The reference is {}.", "OK {}", "{}", "Answer: {}.")
_CALLS: dict[str, ToolUse | ParallelCalls] = {name: ToolUse() for name in ToolUse.templates} | {
    name: ParallelCalls() for name in ParallelCalls.templates
}


class ToolResult:
    """Each result holds a code of twelve characters; the key is all of them, sorted."""

    name = "tool-result"
    max_tokens = MaxTokens(thinking=1024, plain=256)
    templates = tuple(_CALLS)

    def make(self, template: str, rng: random.Random) -> Question:
        """Request, calls and results."""
        asked = _CALLS[template].make(template, rng)
        answer = _CALLS[template].solve(asked.messages, asked.tools or ())
        if answer is None:
            raise ValueError(f"{template} is not understood by its own family")
        made = [(f"call_{code(rng, 8)}", call, code(rng, _LENGTH)) for call in answer.tool_calls]
        request: Message = {
            "role": "assistant",
            "content": "",
            "tool_calls": [
                {"id": id_, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
                for id_, call, _ in made
            ],
        }
        results = tuple(
            {"role": "tool", "tool_call_id": id_, "content": _result(secret, rng)} for id_, _, secret in made
        )
        key = ", ".join(sorted(secret for *_, secret in made))
        return Question(template, (*asked.messages, request, *results), key, tools=asked.tools)

    def solve(self, messages: Sequence[Message], tools: Sequence[Tool]) -> Answer | None:  # noqa: ARG002 - Family
        """Says everything that the tools returned, in their order."""
        values: list[str] = []
        for message in reversed(messages):
            if message.get("role") != "tool":
                break
            values[:0] = _values(text_of(message))
        if not values:
            return None
        return Answer(thinking="The tool has answered. I pass it on.", content=f"Result: {', '.join(values)}")

    def read(self, answer: Answer) -> Key:
        """All codes of the content, sorted."""
        no_call(answer)
        found = codes_in(bare_text(answer), shortest=_LENGTH, longest=_LENGTH)
        if not found:
            raise Unparsable("no word of the length of the nonce")
        return ", ".join(sorted(found))


def _result(secret: str, rng: random.Random) -> str:
    """Plain text, or an object of one to three fields, or one in another."""
    shape = rng.random()
    if shape < 0.25:
        return rng.choice(_SENTENCES).format(secret)
    fields: list[tuple[str, Any]] = [(rng.choice(_FIELDS), secret)]
    fields += [(name, rng.choice(_BESIDE[name])) for name in rng.sample(list(_BESIDE), rng.randint(0, 2))]
    rng.shuffle(fields)
    result = dict(fields)
    return json.dumps({rng.choice(_OUTER): result} if shape > 0.8 else result)


def _values(text: str) -> list[str]:
    try:
        result = json.loads(text)
    except json.JSONDecodeError:
        return [text]
    return list(_leaves(result))


def _leaves(value: Any) -> Iterator[str]:
    """What stands in a JSON value, in order, keys left out."""
    if isinstance(value, Mapping):
        for inner in value.values():
            yield from _leaves(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _leaves(inner)
    else:
        yield value if isinstance(value, str) else json.dumps(value)
