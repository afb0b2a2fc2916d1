"""The functions that tool items offer, and how a user asks for each."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from shakedown.serving.tasks.item import Tool
from shakedown.serving.tasks.randomness import nonce
from shakedown.serving.tasks.template import Template, first_match, templates
from shakedown.serving.tasks.words import CITIES, NAMES, WORDS

_INTEGER = r"\d{1,3}"
_Draw = Callable[[random.Random], Any]


@dataclass(frozen=True)
class Function:
    """One function: its declaration, the requests that call for it, and values for its parameters.

    Attributes:
        name: as it stands in the declaration.
        description: likewise.
        parameters: name of each parameter and how a value is drawn, in order.
        requests: phrasings whose slots are the parameters.
    """

    name: str
    description: str
    parameters: Mapping[str, _Draw]
    requests: Mapping[str, Template]
    integers: tuple[str, ...] = ()

    @property
    def declaration(self) -> Tool:
        """In the shape of the OpenAI API."""
        properties = {name: {"type": "integer" if name in self.integers else "string"} for name in self.parameters}
        parameters = {"type": "object", "properties": properties, "required": list(self.parameters)}
        return {
            "type": "function",
            "function": {"name": self.name, "description": self.description, "parameters": parameters},
        }

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Arguments for one call."""
        return {name: value(rng) for name, value in self.parameters.items()}

    def understand(self, request: str) -> dict[str, Any] | None:
        """The arguments that a request names, or None if it is not for this function."""
        found = first_match(self.requests.values(), request)
        if found is None:
            return None
        return {name: int(found[1][name]) if name in self.integers else found[1][name] for name in self.parameters}


def _city(rng: random.Random) -> str:
    return rng.choice(CITIES)


def _words(rng: random.Random) -> str:
    return " ".join(rng.sample(WORDS, 2))


FUNCTIONS: tuple[Function, ...] = (
    Function(
        "get_weather",
        "Get the current weather for a city.",
        {"city": _city},
        templates(
            {"city": r"[A-Z][a-z]+"},
            what="What is the weather in {city}?",
            tell="Tell me the weather in {city}.",
            how="How is the weather in {city} today?",
        ),
    ),
    Function(
        "get_time",
        "Get the current time in a city.",
        {"city": _city},
        templates(
            {"city": r"[A-Z][a-z]+"},
            what="What time is it in {city}?",
            tell="Tell me the time in {city}.",
            current="What is the current time in {city}?",
        ),
    ),
    Function(
        "get_order",
        "Get the status of an order.",
        {"order_id": lambda rng: nonce(rng, 8)},
        templates(
            {"order_id": r"[A-Za-z0-9]+"},
            where="Where is order {order_id}?",
            look="Look up order {order_id}.",
            status="What is the status of order {order_id}?",
        ),
    ),
    Function(
        "set_timer",
        "Set a timer.",
        {"minutes": lambda rng: rng.randint(2, 240)},
        templates(
            {"minutes": _INTEGER},
            set="Set a timer for {minutes} minutes.",
            start="Start a timer of {minutes} minutes.",
        ),
        integers=("minutes",),
    ),
    Function(
        "lookup_user",
        "Look up a user by id.",
        {"user_id": lambda rng: rng.randint(1, 999)},
        templates(
            {"user_id": _INTEGER},
            look="Look up user {user_id}.",
            find="Find the user with id {user_id}.",
        ),
        integers=("user_id",),
    ),
    Function(
        "search_web",
        "Search the web.",
        {"query": _words},
        templates(
            {"query": r"[a-z]+ [a-z]+"},
            web="Search the web for {query}.",
            pages="Find pages about {query}.",
        ),
    ),
    Function(
        "convert_currency",
        "Convert an amount between currencies.",
        {
            "amount": lambda rng: rng.randint(2, 999),
            "from_currency": lambda rng: rng.choice(("EUR", "GBP", "USD")),
            "to_currency": lambda rng: rng.choice(("CHF", "JPY", "SEK")),
        },
        templates(
            {"amount": _INTEGER, "from_currency": "[A-Z]{3}", "to_currency": "[A-Z]{3}"},
            convert="Convert {amount} {from_currency} to {to_currency}.",
            exchange="Exchange {amount} {from_currency} into {to_currency}.",
        ),
        integers=("amount",),
    ),
    Function(
        "send_email",
        "Send an email.",
        {"to": lambda rng: f"{rng.choice(NAMES).lower()}@example.com", "subject": _words},
        templates(
            {"to": r"[a-z]+@example\.com", "subject": r"[a-z]+ [a-z]+"},
            send="Send an email to {to} with the subject {subject}.",
            email="Email {to} with subject {subject}.",
        ),
    ),
)


def offered(tools: Sequence[Tool]) -> list[Function]:
    """The functions of the toolbox among the tools of a request."""
    names = {tool.get("function", {}).get("name") for tool in tools}
    return [function for function in FUNCTIONS if function.name in names]
