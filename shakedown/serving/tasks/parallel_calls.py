"""Several calls in one answer: one service for several values, or several services."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from shakedown.serving.tasks.calls import calls
from shakedown.serving.tasks.item import Answer, Key, MaxTokens, Message, Question, Tool, ask, last_turn
from shakedown.serving.tasks.kinds import KINDS, known, some_tools
from shakedown.serving.tasks.toolbox import Kind, Offered, capitalised

_LISTS = {f"{kind.topic}-many-{i}": (kind, text) for kind in KINDS for i, text in enumerate(kind.lists, 1)}
_MIXED = {
    "two-and": "{A} and {b}.",
    "two-please": "Please {a} and {b}.",
    "two-addition": "{A}. In addition, {b}.",
    "two-also": "{A}. Also {b}.",
    "two-can": "Can you {a} and {b}?",
    "two-could": "Could you {a} and also {b}?",
    "two-things": "Two things, please: {a}, and {b}.",
    "two-same-time": "At the same time, {a} and {b}.",
    "two-need": "I need you to {a} and {b}.",
    "three": "{A}, {b} and {c}.",
    "three-please": "Please {a}, {b} and {c}.",
    "three-things": "Three things: {a}, {b} and {c}.",
    "three-can": "Can you {a}, {b} and {c}?",
}
_SLOT = re.compile(r"\{([Aabc])\}")
_PART = re.compile(r"\\\{[Aabc]\\\}")
_MIXED_PATTERNS = tuple(re.compile(_PART.sub("([^,]+?)", re.escape(text))) for text in _MIXED.values())
_SEPARATOR = re.compile(r", | and in | and ")


def _list_pattern(kind: Kind, text: str) -> re.Pattern[str]:
    (parameter,) = kind.parameters.values()
    value = f"(?:{parameter.pattern})"
    joint = " and (?:in )?" if kind.topic in ("weather", "time") else " and "
    return re.compile(re.escape(text).replace(r"\{many\}", f"({value}(?:, {value})*{joint}{value})"))


_LIST_PATTERNS = {name: _list_pattern(kind, text) for name, (kind, text) in _LISTS.items()}


class ParallelCalls:
    """Two or three calls that do not depend on each other."""

    name = "parallel-calls"
    max_tokens = MaxTokens(thinking=1024, plain=768)
    templates = (*_LISTS, *_MIXED)

    def make(self, template: str, rng: random.Random) -> Question:
        """A list of values for one service, or orders for several services."""
        wanted, text = _several_values(template, rng) if template in _LISTS else _several_services(template, rng)
        tools = some_tools(list({kind.topic: kind for kind, _ in wanted}.values()), rng)
        functions = known(tools)
        return Question(
            template,
            ask(text),
            _as_key(functions[kind.topic].key(values) for kind, values in wanted),
            tools=tools,
        )

    def solve(self, messages: Sequence[Message], tools: Sequence[Tool]) -> Answer | None:
        """The calls in the order in which they are asked for."""
        turn = last_turn(messages)
        if turn is None or not tools:
            return None
        functions = known(tools)
        wanted = _understood_list(turn, functions) or _understood_orders(turn, functions)
        if not wanted:
            return None
        names = ", ".join(function.name for function, _ in wanted)
        return Answer(
            thinking=f"Calls to make: {names}.",
            tool_calls=tuple(function.call(values) for function, values in wanted),
        )

    def read(self, answer: Answer) -> Key:
        """All calls; their order does not count, their number does."""
        return _as_key(calls(answer))


def _as_key(found: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    return {"calls": sorted(found, key=lambda call: json.dumps(call, sort_keys=True))}


_Wanted = list[tuple[Kind, Mapping[str, str]]]


def _several_values(template: str, rng: random.Random) -> tuple[_Wanted, str]:
    kind, text = _LISTS[template]
    (slot,) = kind.parameters
    count = rng.choice((2, 2, 3))
    values: dict[str, None] = {}
    while len(values) < count:
        values[kind.draw(rng)[slot]] = None
    *head, last = values
    joint = " and in " if kind.topic in ("weather", "time") and rng.random() < 0.4 else " and "
    return [(kind, {slot: value}) for value in values], text.replace("{many}", ", ".join(head) + joint + last)


def _several_services(template: str, rng: random.Random) -> tuple[_Wanted, str]:
    text = _MIXED[template]
    slots = _SLOT.findall(text)
    chosen: _Wanted = [(kind, kind.draw(rng)) for kind in rng.sample(KINDS, len(slots))]
    orders = []
    for kind, values in chosen:
        number = rng.randint(1, len(kind.orders))
        orders.append(kind.phrasings[f"{kind.topic}-order-{number}"].render(values))
    rendered = {slot: capitalised(order) if slot == "A" else order for slot, order in zip(slots, orders, strict=True)}
    return chosen, _SLOT.sub(lambda found: rendered[found[1]], text)


_Understood = list[tuple[Offered, Mapping[str, str]]]


def _understood_list(turn: str, functions: Mapping[str, Offered]) -> _Understood | None:
    for name, pattern in _LIST_PATTERNS.items():
        kind = _LISTS[name][0]
        if kind.topic in functions and (found := pattern.fullmatch(turn)):
            (slot,) = kind.parameters
            return [(functions[kind.topic], {slot: value}) for value in _SEPARATOR.split(found[1])]
    return None


def _understood_orders(turn: str, functions: Mapping[str, Offered]) -> _Understood | None:
    for pattern in _MIXED_PATTERNS:
        found = pattern.fullmatch(turn)
        if found is None:
            continue
        parts = [_understood_order(part[:1].lower() + part[1:], functions) for part in found.groups()]
        known_parts = [part for part in parts if part is not None]
        if len(known_parts) == len(parts):
            return known_parts
    return None


def _understood_order(clause: str, functions: Mapping[str, Offered]) -> tuple[Offered, Mapping[str, str]] | None:
    for function in functions.values():
        values = function.kind.understand_order(clause)
        if values is not None:
            return function, values
    return None
