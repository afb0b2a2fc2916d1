"""What stands around a question in real use: a system prompt, a polite opening, earlier turns, tools nobody needs."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from functools import cache

from shakedown.serving.tasks.item import Message, Question, Tool, text_of
from shakedown.serving.tasks.words import NAMES, WORDS
from train.families import ALL

SYSTEM_SHARE, POLITE_SHARE, EARLIER_SHARE, TOOLS_SHARE = 0.4, 0.12, 0.12, 0.1
"""Shares of documents with a system prompt, a polite opening, an earlier exchange, tools beside the question."""

_SYSTEM_PROMPTS = (
    "You are a helpful assistant.",
    "You are a helpful, concise assistant.",
    "You are a careful assistant. Follow the instructions exactly.",
    "Answer briefly.",
    "Be brief and precise.",
    "Follow the user's instructions exactly.",
    "You are an assistant in a test of a deployment.",
    "Reply in plain text without any formatting.",
    "You answer questions for the staff of a small shop.",
    "Today is Monday. You are a helpful assistant.",
)
_OPENINGS = ("Hi! ", "Hello! ", "Hello. ", "Hi, ", "Good morning. ", "A quick question: ", "Next one: ", "Now: ")
_NO_REQUEST = {
    *("What", "Which", "Where", "How", "Who", "When", "Is", "Are", "Can", "Could", "I", "We", "Does", "Do"),
    *("The", "There", "Here", "Your", "My", "In", "If", "Please", "Hi", "Hello"),
    *NAMES,
}


def with_system(messages: Sequence[Message], rng: random.Random) -> tuple[Message, ...]:
    """A system prompt in front, unless there is one: a usual one, or sentences about nothing."""
    if messages[0]["role"] == "system":
        return tuple(messages)
    text = rng.choice(_SYSTEM_PROMPTS)
    if rng.random() < 0.3:
        text = " ".join(_sentence(rng) for _ in range(rng.randint(1, 5)))
    return ({"role": "system", "content": text}, *messages)


def politely(messages: Sequence[Message], rng: random.Random) -> tuple[Message, ...]:
    """The last turn with an opening, if it is a question of the user's; what it asks for stays the same."""
    if messages[-1]["role"] != "user":
        return tuple(messages)
    text = text_of(messages[-1])
    first = text.partition(" ")[0]
    if first.istitle() and first.isalpha() and first not in _NO_REQUEST and rng.random() < 0.6:
        text = f"Please {text[0].lower()}{text[1:]}"
    else:
        text = rng.choice(_OPENINGS) + text
    return (*messages[:-1], {**messages[-1], "content": text})


def after_exchange(question: Question, rng: random.Random) -> Question:
    """The question after a finished exchange of some family, whose reasoning is sent back as clients do.

    If the exchange offers functions and the question does not, they stay on offer.
    """
    name = rng.choice(_finishing(with_tools=question.tools is None))
    earlier = draw(name, rng)
    answer = ALL[name].solve(earlier.messages, earlier.tools or ())
    if answer is None:
        raise ValueError(f"{name} cannot answer its own question")
    said = {"role": "assistant", "content": answer.content, "reasoning": answer.thinking}
    head, rest = _split_system(question.messages)
    _, before = _split_system(earlier.messages)
    return replace(question, messages=(*head, *before, said, *rest), tools=question.tools or earlier.tools)


def draw(family: str, rng: random.Random) -> Question:
    """A question in any phrasing of the family."""
    source = ALL[family]
    return source.make(rng.choice(source.templates), rng)


def some_tools(rng: random.Random) -> tuple[Tool, ...]:
    """The tools that some question of the pool offers."""
    tools = draw(rng.choice(_offering()), rng).tools
    return tools or ()


def _split_system(messages: Sequence[Message]) -> tuple[tuple[Message, ...], tuple[Message, ...]]:
    first = int(messages[0]["role"] == "system")
    return tuple(messages[:first]), tuple(messages[first:])


@cache
def _offering() -> tuple[str, ...]:
    """Families whose questions come with tools."""
    return tuple(name for name, question in _examples().items() if question.tools)


@cache
def _finishing(*, with_tools: bool) -> tuple[str, ...]:
    """Families whose answer ends the exchange, because it is text; with or without those that offer tools."""
    finishing = []
    for name, question in _examples().items():
        answer = ALL[name].solve(question.messages, question.tools or ())
        if answer and not answer.tool_calls and (with_tools or not question.tools):
            finishing.append(name)
    return tuple(finishing)


@cache
def _examples() -> dict[str, Question]:
    rng = random.Random(0)
    return {name: draw(name, rng) for name in ALL}


def _sentence(rng: random.Random) -> str:
    a, b = rng.sample(WORDS, 2)
    return rng.choice(
        (
            f"The {a} is beside the {b}.",
            f"{rng.choice(NAMES)} likes the {a}.",
            f"Every {a} has a {b}.",
            f"Think of a {a} and a {b}.",
            f"{rng.choice(NAMES)} sold a {a} to {rng.choice(NAMES)}.",
        )
    )
