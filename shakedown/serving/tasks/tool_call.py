"""Tool use: a call that must be made, one that must not, and a result that must reach the answer."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from typing import Any

from shakedown.serving.tasks.arithmetic import Arithmetic
from shakedown.serving.tasks.exact_word import ExactWord
from shakedown.serving.tasks.item import (
    Answer,
    Key,
    MaxTokens,
    Message,
    Question,
    Tool,
    ToolCall,
    Unparsable,
    ask,
    last_turn,
    text_of,
)
from shakedown.serving.tasks.randomness import nonce
from shakedown.serving.tasks.reading import bare_text
from shakedown.serving.tasks.toolbox import FUNCTIONS, Function, offered

_RESULT_FIELDS = ("result", "value", "status", "answer")


class ToolUse:
    """One to three functions are offered and one of them fits."""

    name = "tool-call"
    max_tokens = MaxTokens(thinking=1024, plain=512)
    templates = tuple(f"{function.name}-{request}" for function in FUNCTIONS for request in function.requests)

    def make(self, template: str, rng: random.Random) -> Question:
        """A request for one function among up to two others."""
        function, arguments, text = _request(template, rng)
        key = {"name": function.name, "arguments": arguments}
        return Question(template, ask(text), key, tools=_choice_with(function, rng))

    def solve(self, messages: Sequence[Message], tools: Sequence[Tool]) -> Answer | None:
        """The call; or, when a function of the toolbox is asked for that is not offered, the plain statement so."""
        turn = last_turn(messages)
        if turn is None or not tools:
            return None
        for function in offered(tools):
            arguments = function.understand(turn)
            if arguments is not None:
                call = ToolCall(function.name, json.dumps(arguments, ensure_ascii=False))
                return Answer(thinking=f"{function.name} does what is asked for.", tool_calls=(call,))
        if any(function.understand(turn) is not None for function in FUNCTIONS):
            return Answer(thinking="None of the tools fits.", content="I cannot do that with the tools I have.")
        return None

    def read(self, answer: Answer) -> Key:
        """The only call: its name, and its arguments as values."""
        if len(answer.tool_calls) != 1:
            raise Unparsable(f"{len(answer.tool_calls)} tool calls")
        (call,) = answer.tool_calls
        try:
            arguments = json.loads(call.arguments)
        except json.JSONDecodeError as error:
            raise Unparsable(f"arguments of {call.name} are no JSON: {error}") from error
        return {"name": call.name, "arguments": arguments}


class ToolAbstention:
    """Functions are offered and none is needed: a call would be an invention."""

    name = "tool-abstention"
    max_tokens = MaxTokens(thinking=1024, plain=256)
    _inner = (Arithmetic(), ExactWord())
    templates = tuple(f"{family.name}-{template}" for family in _inner for template in family.templates)

    def make(self, template: str, rng: random.Random) -> Question:
        """An item of another family with one to three tools beside it."""
        for family in self._inner:
            if template.startswith(family.name + "-"):
                question = family.make(template.removeprefix(family.name + "-"), rng)
                return Question(template, question.messages, question.key, tools=_choice_with(None, rng))
        raise KeyError(template)

    def solve(self, messages: Sequence[Message], tools: Sequence[Tool]) -> Answer | None:
        """The answer of the other family, and the thought that no tool is needed."""
        if not tools:
            return None
        for family in self._inner:
            answer = family.solve(messages, ())
            if answer is not None:
                return Answer(thinking=f"No tool is needed.\n{answer.thinking}", content=answer.content)
        return None

    def read(self, answer: Answer) -> Key:
        """As the other family reads it; a call leaves nothing to read."""
        if answer.tool_calls:
            raise Unparsable(f"a call of {answer.tool_calls[0].name}")
        text = bare_text(answer)
        return Arithmetic().read(answer) if any(c.isdigit() for c in text) else ExactWord().read(answer)


class ToolResult:
    """The call was made and its result holds a nonce, which the final answer must hold too."""

    name = "tool-result"
    max_tokens = MaxTokens(thinking=1024, plain=96)
    templates = ToolUse.templates

    def make(self, template: str, rng: random.Random) -> Question:
        """Request, call and result; the key is the nonce."""
        function, arguments, text = _request(template, rng)
        secret = nonce(rng)
        identifier = f"call_{nonce(rng, 8)}"
        called = {"name": function.name, "arguments": json.dumps(arguments, ensure_ascii=False)}
        messages: tuple[Message, ...] = (
            *ask(text),
            {
                "role": "assistant",
                "content": "",
                "tool_calls": [{"id": identifier, "type": "function", "function": called}],
            },
            {
                "role": "tool",
                "tool_call_id": identifier,
                "content": json.dumps({rng.choice(_RESULT_FIELDS): secret}),
            },
        )
        return Question(template, messages, secret, tools=_choice_with(function, rng))

    def solve(self, messages: Sequence[Message], tools: Sequence[Tool]) -> Answer | None:  # noqa: ARG002 - Family
        """Says what the tool returned."""
        if not messages or messages[-1].get("role") != "tool":
            return None
        try:
            result = json.loads(text_of(messages[-1]))
        except json.JSONDecodeError:
            result = text_of(messages[-1])
        values = result.values() if isinstance(result, dict) else (result,)
        return Answer(thinking="The tool returned a result.", content=f"The result is {', '.join(map(str, values))}.")

    def read(self, answer: Answer) -> Key:
        """The one word of the content that has the length of a nonce."""
        if answer.tool_calls:
            raise Unparsable(f"a call of {answer.tool_calls[0].name}")
        words = [word.strip(".,:;*`\"'") for word in bare_text(answer).split()]
        found = [word for word in words if len(word) == 12 and word.isalnum()]
        if not found:
            raise Unparsable("no word of the length of the nonce")
        return found[-1]


def _request(template: str, rng: random.Random) -> tuple[Function, dict[str, Any], str]:
    name, _, request = template.partition("-")
    function = next(function for function in FUNCTIONS if function.name == name)
    arguments = function.draw(rng)
    return function, arguments, function.requests[request].render(arguments)


def _choice_with(needed: Function | None, rng: random.Random) -> tuple[Tool, ...]:
    others = [function for function in FUNCTIONS if function is not needed]
    chosen = rng.sample(others, rng.randint(0 if needed else 1, 2)) + ([needed] if needed else [])
    rng.shuffle(chosen)
    return tuple(function.declaration for function in chosen)
