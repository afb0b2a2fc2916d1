"""One call that must be made: the fitting function under its name of the day, with the values of the request."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from shakedown.serving.tasks.calls import only_call
from shakedown.serving.tasks.item import Answer, Key, MaxTokens, Message, Question, Tool, ask, last_turn
from shakedown.serving.tasks.kinds import KINDS, known, some_tools
from shakedown.serving.tasks.toolbox import Kind, framed

_PHRASINGS = {name: kind for kind in KINDS for name in kind.phrasings}


@dataclass(frozen=True, slots=True)
class Request:
    """What a user asks for: the kind of service, the values by slot, and the words."""

    kind: Kind
    values: Mapping[str, str]
    text: str


class ToolUse:
    """One to four functions are offered and one of them fits."""

    name = "tool-call"
    max_tokens = MaxTokens(thinking=1024, plain=512)
    templates = tuple(_PHRASINGS)

    def make(self, template: str, rng: random.Random) -> Question:
        """A request for one function among up to three others."""
        request = requested(template, rng)
        tools = some_tools([request.kind], rng)
        key = known(tools)[request.kind.topic].key(request.values)
        return Question(template, ask(request.text), key, tools=tools)

    def solve(self, messages: Sequence[Message], tools: Sequence[Tool]) -> Answer | None:
        """The call of the function whose description fits."""
        turn = last_turn(messages)
        if turn is None or not tools:
            return None
        for topic, function in known(tools).items():
            values = function.kind.understand(turn)
            if values is not None:
                thinking = f"This is about {topic}. The tool for it is {function.name}."
                return Answer(thinking=thinking, tool_calls=(function.call(values),))
        return None

    def read(self, answer: Answer) -> Key:
        """The only call: its name, and its arguments as values."""
        return only_call(answer)


def requested(template: str, rng: random.Random) -> Request:
    """A request in one of the phrasings of `ToolUse`."""
    kind = _PHRASINGS[template]
    values = kind.draw(rng)
    text = kind.phrasings[template].render(values)
    return Request(kind, values, text if "-question-" in template else framed(text, rng))
