"""Facts out of a sentence into a JSON object with given keys; the same items carry a schema to hold the server to."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from typing import Any

from shakedown.serving.tasks.item import Answer, MaxTokens, Message, Question, Tool, ask, last_turn
from shakedown.serving.tasks.reading import json_object
from shakedown.serving.tasks.template import first_match, templates
from shakedown.serving.tasks.words import CITIES, COLORS, ITEMS, JOBS, NAMES

_TEMPLATES = templates(
    {"keys": r"\w+(?:, \w+| and \w+)*", "text": r"[^\n]+"},
    from_text="Return JSON with keys {keys} from: {text}",
    extract="Extract {keys} as JSON: {text}",
    for_text="Return JSON with the keys {keys} for this text: {text}",
    keys_first="Return JSON with keys {keys}.\n\n{text}",
    text_first="{text}\n\nReturn JSON with keys {keys}.",
)
_SPELLED_OUT = ("extract", "for-text")
_SENTENCE_SLOTS = {
    "name": r"[A-Z][a-z]+",
    "city": r"[A-Z][a-z]+",
    "age": r"\d{1,2}",
    "job": r"[a-z]+",
    "quantity": r"\d{1,3}",
    "color": r"[a-z]+",
    "item": r"[a-z]+",
}
_SENTENCES = templates(
    _SENTENCE_SLOTS,
    lives="{name} is {age} years old and lives in {city}.",
    aged="{name}, aged {age}, comes from {city}.",
    works="{name} works as a {job} in {city}.",
    working_age="{name} ({age}) works as a {job}.",
    order="The order is for {quantity} {color} {item}.",
    need="We need {quantity} {item} in {color}.",
)
_NUMBERS = ("age", "quantity")


class Extraction:
    """Two or three facts."""

    name = "extraction"
    max_tokens = MaxTokens(thinking=1024, plain=512)
    templates = tuple(_TEMPLATES)

    def make(self, template: str, rng: random.Random) -> Question:
        """All facts of a sentence or two of them, in any order."""
        values: dict[str, Any] = {
            "name": rng.choice(NAMES),
            "city": rng.choice(CITIES),
            "age": rng.randint(11, 99),
            "job": rng.choice(JOBS),
            "quantity": rng.randint(2, 999),
            "color": rng.choice(COLORS),
            "item": rng.choice(ITEMS),
        }
        sentence = rng.choice(list(_SENTENCES.values()))
        text = sentence.render(values)
        keys = list(sentence.match(text) or {})
        rng.shuffle(keys)
        keys = keys[: rng.choice((2, 3))]
        listed = _listed(keys, spelled_out=template in _SPELLED_OUT)
        return Question(
            template,
            ask(_TEMPLATES[template].render({"keys": listed, "text": text})),
            {key: values[key] for key in keys},
            response_schema=_schema(keys),
        )

    def solve(self, messages: Sequence[Message], tools: Sequence[Tool]) -> Answer | None:  # noqa: ARG002 - Family
        """The facts of the sentence under the keys that are asked for."""
        turn = last_turn(messages)
        found = first_match(_TEMPLATES.values(), turn) if turn else None
        sentence = first_match(_SENTENCES.values(), found[1]["text"]) if found else None
        if found is None or sentence is None:
            return None
        keys = found[1]["keys"].replace(" and ", ", ").split(", ")
        facts = {key: int(value) if key in _NUMBERS else value for key, value in sentence[1].items()}
        if not set(keys) <= set(facts):
            return None
        content = json.dumps({key: facts[key] for key in keys}, ensure_ascii=False)
        return Answer(thinking=f"The keys are {', '.join(keys)}.", content=content)

    def read(self, answer: Answer) -> dict[str, Any]:
        """The object; the order of its keys does not count, the types of its values do."""
        return json_object(answer)


def _listed(keys: Sequence[str], *, spelled_out: bool) -> str:
    return f"{', '.join(keys[:-1])} and {keys[-1]}" if spelled_out and len(keys) > 1 else ", ".join(keys)


def _schema(keys: Sequence[str]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {key: {"type": "integer" if key in _NUMBERS else "string"} for key in keys},
        "required": list(keys),
        "additionalProperties": False,
    }
