"""Generated tokens told apart into reasoning, content and tool calls, token by token (vllm/parser, hermes calls)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum, auto

from shakedown.simulator.model import Model

_NAME = re.compile(r'"name"\s*:\s*"([^"]+)"')
_ARGUMENTS = re.compile(r'"arguments"\s*:\s*(?=\{)')


@dataclass(slots=True)
class CallDelta:
    """A piece of a tool call: the name when it becomes known, then its arguments as they come."""

    index: int
    name: str = ""
    arguments: str = ""


@dataclass(slots=True)
class Delta:
    """What some tokens added."""

    reasoning: str = ""
    content: str = ""
    calls: list[CallDelta] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.reasoning or self.content or self.calls)


@dataclass(slots=True)
class Call:
    """A whole tool call."""

    name: str
    arguments: str


class _State(Enum):
    REASONING = auto()
    CONTENT = auto()
    CALL = auto()


class OutputParser:
    """The parsers of a server with reasoning and tool parsing switched on.

    Attributes:
        reasoning_tokens: tokens seen so far between the reasoning tags.
    """

    def __init__(self, model: Model, *, thinking: bool, tools: bool) -> None:
        self._model = model
        self._state = _State.REASONING if thinking else _State.CONTENT
        self._tools = tools
        self._call: _CallText | None = None
        self._calls = 0
        self.reasoning_tokens = 0

    @property
    def in_reasoning(self) -> bool:
        """Whether the reasoning has not ended yet."""
        return self._state is _State.REASONING

    def feed(self, ids: Sequence[int], pieces: Sequence[str]) -> Delta:
        """What these tokens add."""
        delta = Delta()
        for id, piece in zip(ids, pieces, strict=True):
            self._token(id, piece, delta)
        return delta

    def _token(self, id: int, piece: str, delta: Delta) -> None:
        if id == self._model.think_end and self._state is not _State.CALL:
            self.end_reasoning(piece, delta)
        elif id == self._model.think_start and self._state is _State.REASONING:
            self.start_reasoning(piece, delta)
        elif id == self._model.tool_start and self._tools:
            self._state, self._call = _State.CALL, _CallText(self._calls)
            self._calls += 1
        elif id == self._model.tool_end and self._state is _State.CALL:
            self._state, self._call = _State.CONTENT, None
        elif self._state is _State.CALL and self._call is not None:
            delta.calls.extend(self._call.feed(piece))
        elif self._state is _State.REASONING:
            self.reasoning_tokens += 1
            self.reason(piece, delta)
        else:
            delta.content += piece

    def start_reasoning(self, piece: str, delta: Delta) -> None:
        """At the start tag, which is shown nowhere."""

    def end_reasoning(self, piece: str, delta: Delta) -> None:  # noqa: ARG002 - for those that show it
        """At the end tag, which is shown nowhere."""
        self._state = _State.CONTENT

    def reason(self, piece: str, delta: Delta) -> None:
        """At a token of the reasoning."""
        delta.reasoning += piece


class NoReasoningParser(OutputParser):
    """A server that was started without a reasoning parser: reasoning is content, tags and all."""

    def start_reasoning(self, piece: str, delta: Delta) -> None:
        """The tag is text."""
        delta.content += piece

    def end_reasoning(self, piece: str, delta: Delta) -> None:
        """The tag is text."""
        super().end_reasoning(piece, delta)
        delta.content += piece

    def reason(self, piece: str, delta: Delta) -> None:
        """Reasoning is text."""
        delta.content += piece


class _Braces:
    """Knows when the object closes that the first character opened."""

    def __init__(self) -> None:
        self._depth = 0
        self._in_string = False
        self._escaped = False

    def closes(self, character: str) -> bool:
        """Whether this next character is the last one of the object."""
        if self._escaped:
            self._escaped = False
        elif self._in_string:
            self._escaped = character == "\\"
            self._in_string = character != '"'
        elif character == '"':
            self._in_string = True
        elif character in "{}":
            self._depth += 1 if character == "{" else -1
            return self._depth == 0
        return False


class _CallText:
    """The JSON text of one call, read as it grows."""

    def __init__(self, index: int) -> None:
        self._index = index
        self._text = ""
        self._named = False
        self._arguments_read: int | None = None
        self._complete = False
        self._braces = _Braces()

    def feed(self, piece: str) -> list[CallDelta]:
        """The name once it is whole, then the arguments as far as they are new."""
        self._text += piece
        deltas = []
        if not self._named and (name := _NAME.search(self._text)):
            self._named = True
            deltas.append(CallDelta(self._index, name=name[1]))
        if self._named and self._arguments_read is None and (start := _ARGUMENTS.search(self._text)):
            self._arguments_read = start.end()
        if self._arguments_read is not None and not self._complete:
            arguments = self._new_arguments(self._text[self._arguments_read :])
            self._arguments_read = len(self._text)
            if arguments:
                deltas.append(CallDelta(self._index, arguments=arguments))
        return deltas

    def _new_arguments(self, text: str) -> str:
        for position, character in enumerate(text):
            if self._braces.closes(character):
                self._complete = True
                return text[: position + 1]
        return text


@dataclass(slots=True)
class Parsed:
    """A whole output, told apart."""

    reasoning: str
    content: str
    calls: list[Call]
    reasoning_tokens: int


def parse_whole(parser: OutputParser, ids: Sequence[int], pieces: Sequence[str]) -> Parsed:
    """All of an output at once."""
    delta = parser.feed(ids, pieces)
    calls: list[Call] = []
    for piece in delta.calls:
        if piece.name:
            calls.append(Call(piece.name, ""))
        calls[-1].arguments += piece.arguments
    return Parsed(delta.reasoning, delta.content, calls, parser.reasoning_tokens)
