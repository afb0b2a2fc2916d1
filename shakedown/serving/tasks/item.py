"""What a task is made of: the item that is asked, the answer that came, the verdict over it."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

Message = Mapping[str, Any]
Tool = Mapping[str, Any]
Key = str | Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class MaxTokens:
    """How many generated tokens an item may cost, reasoning included."""

    thinking: int
    plain: int


@dataclass(frozen=True, slots=True)
class Item:
    """One generated question with its exact key.

    Attributes:
        family: name of the family, see ``FAMILIES``.
        template: name of the phrasing, unique within the family.
        seed: seed of the series that the item belongs to.
        index: position in that series; (family, seed, index) makes the item again.
        messages: chat messages in the OpenAI shape.
        key: the right answer: a string, or for JSON the object, or for a tool call ``{"name", "arguments"}``.
        max_tokens: budgets with thinking on and off.
        tools: function tools in the OpenAI shape, None where the item has none.
        response_schema: JSON schema that the answer can be held to, None where free text is asked.
    """

    family: str
    template: str
    seed: int
    index: int
    messages: tuple[Message, ...]
    key: Key
    max_tokens: MaxTokens
    tools: tuple[Tool, ...] | None = None
    response_schema: Mapping[str, Any] | None = None

    @property
    def id(self) -> str:
        """Short and unique within a run, e.g. ``reverse-7-012``."""
        return f"{self.family}-{self.seed}-{self.index:03d}"


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call as it stands in a response: the arguments are the JSON text that the server sent."""

    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back for one item, from a server or from `solve`.

    Attributes:
        thinking: reasoning text.
        content: answer text.
        tool_calls: calls in order.
        finish_reason: as the server said it; None if it said none.
        status: HTTP status; 0 if there was no HTTP answer.
    """

    thinking: str = ""
    content: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    finish_reason: str | None = "stop"
    status: int = 200


class Miss(StrEnum):
    """Why an answer is not right; one class for each, so that a report can tell damage from ignorance."""

    WRONG = "wrong"
    UNPARSABLE = "unparsable"
    TRUNCATED = "truncated"
    EMPTY = "empty"
    REFUSED = "refused"
    HTTP_ERROR = "http_error"
    DEGENERATE = "degenerate"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The outcome for one item: ``miss`` is None exactly when the answer is right."""

    miss: Miss | None
    found: str
    expected: str

    @property
    def right(self) -> bool:
        """Whether the answer equals the key."""
        return self.miss is None


class Unparsable(ValueError):  # noqa: N818 - a class of miss, not a failure of ours
    """An answer in which nothing of the kind that was asked for can be found."""


@dataclass(frozen=True, slots=True)
class Question:
    """What a family makes: an item before it gets its place in a series."""

    template: str
    messages: tuple[Message, ...]
    key: Key
    tools: tuple[Tool, ...] | None = None
    response_schema: Mapping[str, Any] | None = None


class Family(Protocol):
    """One kind of task.

    ``solve`` undoes ``make``: it recognises any prompt of the family from its text alone and computes the answer
    anew, so it never sees the key.
    """

    @property
    def name(self) -> str:
        """As it stands in reports."""

    @property
    def max_tokens(self) -> MaxTokens:
        """Budgets for every item of the family."""

    @property
    def templates(self) -> Sequence[str]:
        """Names of the phrasings."""

    def make(self, template: str, rng: random.Random) -> Question:
        """A question in the given phrasing."""

    def solve(self, messages: Sequence[Message], tools: Sequence[Tool]) -> Answer | None:
        """The right answer, or None if the prompt is not of this family."""

    def read(self, answer: Answer) -> Key:
        """The part of an answer that is compared with the key.

        Raises:
            Unparsable: there is nothing of that kind in the answer.
        """


Reader = Callable[[Answer], Key]


def ask(text: str, system: str | None = None) -> tuple[Message, ...]:
    """A single user turn, with a system message before it if given."""
    head: tuple[Message, ...] = ({"role": "system", "content": system},) if system else ()
    return (*head, {"role": "user", "content": text})


def text_of(message: Message) -> str:
    """The text of a message, whether its content is a string or a list of text parts."""
    content = message.get("content")
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, Sequence) else ()
    return "\n".join(str(part.get("text", "")) for part in parts if isinstance(part, Mapping))


def last_turn(messages: Sequence[Message]) -> str | None:
    """The text of the last message if it is the user's, else None."""
    if not messages or messages[-1].get("role") != "user":
        return None
    return text_of(messages[-1])
