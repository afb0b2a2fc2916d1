"""Functions that tool items offer: one kind of service under ever new names, and what a request means for it.

A kind is told from its description, its parameters from their names; both have many spellings, and names get random
affixes, so that a call can only be right if it is written off the declaration.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from shakedown.serving.tasks.item import Tool, ToolCall
from shakedown.serving.tasks.template import Template
from shakedown.serving.tasks.words import ALPHANUMERIC

FRAMES = (
    "{C}.",
    "Please {c}.",
    "Can you {c}?",
    "Could you {c}, please?",
    "{C}, please.",
    "I need you to {c}.",
    "I would like you to {c}.",
)
"""How an order becomes a sentence; ``C`` is the order with a capital letter."""

_AFFIXES = ("acme", "my", "home", "app", "v2", "v3", "api", "tool", "pro", "new")
_EXTRAS: dict[str, dict[str, str]] = {
    "trace_id": {"type": "string", "description": "Only for debugging."},
    "dry_run": {"type": "boolean", "description": "Only for testing."},
    "timeout_seconds": {"type": "integer", "description": "Leave out for the default."},
}
_UNFRAMED = tuple(re.compile(re.escape(f).replace(r"\{C\}", "([^,]+)").replace(r"\{c\}", "([^,]+)")) for f in FRAMES)


@dataclass(frozen=True)
class Parameter:
    """One parameter of a kind.

    Attributes:
        names: what it may be called, in snake case.
        pattern: regular expression of its values as a request spells them.
        draw: makes such a spelling.
        type: JSON type; a boolean is spelled ``on`` or ``off``.
        choices: all values, if the declaration lists them.
    """

    names: tuple[str, ...]
    pattern: str
    draw: Callable[[random.Random], str]
    type: str = "string"
    choices: tuple[str, ...] = ()

    @property
    def schema(self) -> dict[str, Any]:
        """Its place in the declaration."""
        return {"type": self.type} | ({"enum": list(self.choices)} if self.choices else {})

    def value(self, spelled: str) -> str | int | bool:
        """The argument that a spelling stands for."""
        if self.type == "boolean":
            return spelled == "on"
        return int(spelled) if self.type == "integer" else spelled


@dataclass(frozen=True)
class Kind:
    """One kind of service.

    Attributes:
        topic: what it is about, in one or two words.
        names: function names in snake case, unique over all kinds.
        descriptions: likewise unique.
        parameters: by the slot that stands for each in the phrasings.
        questions: whole sentences that ask for it.
        orders: the same as a clause that begins with a verb and holds no comma, see `FRAMES`.
        lists: sentences with the slot ``many`` for two or three values; only with a single parameter.
    """

    topic: str
    names: tuple[str, ...]
    descriptions: tuple[str, ...]
    parameters: Mapping[str, Parameter]
    questions: tuple[str, ...]
    orders: tuple[str, ...]
    lists: tuple[str, ...] = ()

    @cached_property
    def phrasings(self) -> dict[str, Template]:
        """Questions and orders by name."""
        patterns = {slot: parameter.pattern for slot, parameter in self.parameters.items()}
        texts = {f"{self.topic}-question-{i}": text for i, text in enumerate(self.questions, 1)}
        texts |= {f"{self.topic}-order-{i}": text for i, text in enumerate(self.orders, 1)}
        return {name: Template(name, text, patterns) for name, text in texts.items()}

    def draw(self, rng: random.Random) -> dict[str, str]:
        """Spelled values for every slot, no two alike."""
        while True:
            values = {slot: parameter.draw(rng) for slot, parameter in self.parameters.items()}
            if len(set(values.values())) == len(values):
                return values

    def declare(self, rng: random.Random) -> Tool:
        """A function of this kind under a name that no other item need have."""
        spell = _camel if rng.random() < 0.3 else str
        slots = list(self.parameters)
        rng.shuffle(slots)
        properties = {spell(rng.choice(self.parameters[s].names)): self.parameters[s].schema for s in slots}
        required = list(properties)
        if rng.random() < 0.2:
            extra = rng.choice(tuple(_EXTRAS))
            properties[spell(extra)] = _EXTRAS[extra]
        return {
            "type": "function",
            "function": {
                "name": spell(_affixed(rng.choice(self.names), rng)),
                "description": rng.choice(self.descriptions),
                "parameters": {"type": "object", "properties": properties, "required": required},
            },
        }

    def understand_order(self, clause: str) -> dict[str, str] | None:
        """The values in a clause that orders this kind, by slot."""
        return _first(self._order_patterns, clause)

    def understand(self, request: str) -> dict[str, str] | None:
        """The values in a whole request for this kind, by slot; None if it asks for something else."""
        values = _first(self._question_patterns, request)
        if values is None and (clause := unframed(request)):
            values = self.understand_order(clause)
        return values

    @cached_property
    def _question_patterns(self) -> list[re.Pattern[str]]:
        return [re.compile(self._pattern(text)) for text in self.questions]

    @cached_property
    def _order_patterns(self) -> list[re.Pattern[str]]:
        return [re.compile(self._pattern(text)) for text in self.orders]

    def _pattern(self, text: str) -> str:
        pattern = re.escape(text)
        for slot, parameter in self.parameters.items():
            pattern = pattern.replace(rf"\{{{slot}\}}", f"(?P<{slot}>{parameter.pattern})")
        return pattern


@dataclass(frozen=True)
class Offered:
    """A function as a request declares it.

    Attributes:
        kind: what it does.
        name: its name here.
        slots: the slot behind each required parameter, in the order of the declaration.
    """

    kind: Kind
    name: str
    slots: Mapping[str, str]

    def arguments(self, values: Mapping[str, str]) -> dict[str, Any]:
        """Spelled values as the arguments of a call."""
        return {name: self.kind.parameters[slot].value(values[slot]) for name, slot in self.slots.items()}

    def key(self, values: Mapping[str, str]) -> dict[str, Any]:
        """Name and arguments of the call that these values ask for."""
        return {"name": self.name, "arguments": self.arguments(values)}

    def call(self, values: Mapping[str, str]) -> ToolCall:
        """That call as a model writes it."""
        return ToolCall(self.name, json.dumps(self.arguments(values), ensure_ascii=False))


def offered(tools: Sequence[Tool], kinds: Mapping[str, Kind]) -> dict[str, Offered]:
    """What a request offers, by topic; tools of no known description or with unknown parameters are passed over.

    Args:
        tools: declarations in the OpenAI shape.
        kinds: the kind behind every description.
    """
    found = {}
    for tool in tools:
        function = tool.get("function", {})
        kind = kinds.get(function.get("description") or "")
        if kind is None:
            continue
        schema = function.get("parameters") or {}
        by_name = {_plain(name): slot for slot, parameter in kind.parameters.items() for name in parameter.names}
        names = schema.get("required") or tuple(schema.get("properties") or ())
        slots = {name: by_name[_plain(name)] for name in names if _plain(name) in by_name}
        if len(slots) == len(names):
            found[kind.topic] = Offered(kind, str(function.get("name")), slots)
    return found


def framed(order: str, rng: random.Random) -> str:
    """An order as a sentence."""
    return rng.choice(FRAMES).replace("{C}", capitalised(order)).replace("{c}", order)


def unframed(sentence: str) -> str | None:
    """The order in a sentence, None if it has no such shape."""
    for pattern in reversed(_UNFRAMED):
        if found := pattern.fullmatch(sentence):
            return found[1][:1].lower() + found[1][1:]
    return None


def capitalised(clause: str) -> str:
    """The clause as it begins a sentence."""
    return clause[:1].upper() + clause[1:]


def _first(patterns: Sequence[re.Pattern[str]], text: str) -> dict[str, str] | None:
    for pattern in patterns:
        if found := pattern.fullmatch(text):
            return found.groupdict()
    return None


def _affixed(name: str, rng: random.Random) -> str:
    """Two names in five get a word or a random tag before or after them."""
    if rng.random() < 0.6:
        return name
    tag = "".join(rng.choices(ALPHANUMERIC, k=rng.randint(2, 4))).lower()
    affix = tag if rng.random() < 0.5 and tag[0].isalpha() else rng.choice(_AFFIXES)
    return f"{affix}_{name}" if rng.random() < 0.4 else f"{name}_{affix}"


def _camel(name: str) -> str:
    head, *tail = name.split("_")
    return head + "".join(part.capitalize() for part in tail)


def _plain(name: str) -> str:
    return name.replace("_", "").lower()
