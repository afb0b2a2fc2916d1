"""Facts that sentences state: how each is spelled, what JSON value it is, and under which keys it is asked for."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from shakedown.serving.tasks.template import templates
from shakedown.serving.tasks.words import CITIES, COLORS, ITEMS, JOBS, NAMES, WORDS

Value = str | int | bool | list[str] | None
UNKNOWN = "not known"
"""How a sentence spells null."""

_LANGUAGES = ("Danish", "Dutch", "English", "Finnish", "French", "German", "Greek", "Italian", "Polish", "Spanish")
_PLACES = ("bakery", "library", "museum", "station", "school", "pharmacy", "market", "theatre")
_STREETS = ("Mill", "Hill", "Garden", "Church", "Station", "River", "Park", "Harbor")
_JOINT = re.compile(r", | and ")


@dataclass(frozen=True)
class Fact:
    """One kind of fact.

    Attributes:
        keys: what it may be called.
        pattern: regular expression of its spellings.
        draw: makes a spelling.
        schema: JSON schema of its value.
        parse: value of a spelling.
        hint: stands in parentheses behind the key where the type is not plain from the sentence.
    """

    keys: tuple[str, ...]
    pattern: str
    draw: Callable[[random.Random], str]
    schema: Mapping[str, Any]
    parse: Callable[[str], Value]
    hint: str = ""


def _text(pattern: str, values: Sequence[str], *keys: str) -> Fact:
    return Fact(keys, pattern, lambda rng: rng.choice(values), {"type": "string"}, str)


def _whole(low: int, high: int, *keys: str) -> Fact:
    return Fact(keys, r"\d{1,4}", lambda rng: str(rng.randint(low, high)), {"type": "integer"}, int)


def _whole_or_null(low: int, high: int, *keys: str) -> Fact:
    return Fact(
        keys,
        rf"\d{{1,4}}|{UNKNOWN}",
        lambda rng: rng.choice((UNKNOWN, str(rng.randint(low, high)))),
        {"type": ["integer", "null"]},
        lambda spelled: None if spelled == UNKNOWN else int(spelled),
        hint="or null",
    )


def _either(yes: str, no: str, *keys: str) -> Fact:
    return Fact(
        keys,
        f"{yes}|{no}",
        lambda rng: rng.choice((yes, no)),
        {"type": "boolean"},
        lambda spelled: spelled == yes,
        hint="true or false",
    )


def _several(pattern: str, values: Sequence[str], *keys: str) -> Fact:
    def draw(rng: random.Random) -> str:
        *head, last = rng.sample(values, rng.choice((2, 2, 3)))
        return f"{', '.join(head)} and {last}"

    schema = {"type": "array", "items": {"type": "string"}}
    return Fact(keys, rf"{pattern}(?:, {pattern})* and {pattern}", draw, schema, _JOINT.split)


FACTS: dict[str, Fact] = {
    "name": _text(r"[A-Z]\w+", NAMES, "name", "first_name", "person_name"),
    "city": _text(r"[A-Z]\w+(?: [A-Z]\w+)*", CITIES, "city", "town", "city_name"),
    "age": _whole(11, 99, "age", "age_years", "years_old"),
    "maybe_age": _whole_or_null(11, 99, "age", "age_years"),
    "job": _text(r"[a-z]+", JOBS, "job", "profession", "occupation"),
    "quantity": _whole(2, 999, "quantity", "count", "pieces"),
    "color": _text(r"[a-z]+", COLORS, "color", "color_name"),
    "item": _text(r"[a-z]+", ITEMS, "item", "product", "article"),
    "items": _several(r"[a-z]+", ITEMS, "items", "purchases", "shopping_list"),
    "languages": _several(r"[A-Z][a-z]+", _LANGUAGES, "languages", "spoken_languages"),
    "origin": _text(r"[A-Z]\w+(?: [A-Z]\w+)*", CITIES, "origin", "from_city", "start_city"),
    "destination": _text(r"[A-Z]\w+(?: [A-Z]\w+)*", CITIES, "destination", "to_city", "end_city"),
    "year": _whole(1900, 2030, "year", "in_year"),
    "place": _text(r"[a-z]+", _PLACES, "place", "building"),
    "is_open": _either("open", "closed", "open", "is_open"),
    "is_member": _either("a member", "not a member", "member", "is_member"),
    "is_paid": _either("been paid", "not been paid", "paid", "is_paid"),
    "thing": _text(r"[a-z]+", WORDS, "thing", "object"),
    "price": _whole(2, 900, "price_euros", "euros"),
    "maybe_price": _whole_or_null(2, 900, "price_euros", "euros"),
    "weight": _whole(5, 900, "weight_grams", "grams"),
    "street": _text(r"[A-Z][a-z]+ Street", [f"{street} Street" for street in _STREETS], "street", "street_name"),
    "number": _whole(1, 250, "number", "house_number"),
}
GROUPS: dict[str, tuple[str, ...]] = {
    "address": ("street", "number", "city"),
    "trip": ("origin", "destination", "year"),
    "goods": ("quantity", "color", "item"),
    "profile": ("age", "job", "city"),
}
"""Facts that can be asked for as an object of their own, by the key of that object."""

SENTENCES = templates(
    {slot: fact.pattern for slot, fact in FACTS.items()},
    lives="{name} is {age} years old and lives in {city}.",
    aged="{name}, aged {age}, comes from {city}.",
    works="{name} works as a {job} in {city}.",
    working_age="{name} ({age}) works as a {job}.",
    everything="{name} is {age}, works as a {job} in {city} and likes the color {color}.",
    order="The order is for {quantity} {color} {item}.",
    need="We need {quantity} {item} in {color}.",
    bought="{name} bought {items}.",
    bought_in="In {city} {name} bought {items} for {price} euros.",
    speaks="{name} from {city} speaks {languages}.",
    trip="{name} travelled from {origin} to {destination} in {year}.",
    moved="In {year} {name} moved from {origin} to {destination}.",
    open="The {place} in {city} is {is_open}.",
    member="{name}, {age} years old, is {is_member} of the club.",
    paid="The order of {quantity} {item} has {is_paid}.",
    costs="The {color} {thing} costs {price} euros and weighs {weight} grams.",
    maybe_age="{name} lives in {city}. The age is {maybe_age}.",
    maybe_price="The price of the {color} {thing} in euros is {maybe_price}.",
    address="{name} lives in {city} at {number} {street}.",
    address_job="{name}, a {job}, moved to {number} {street} in {city}.",
)
