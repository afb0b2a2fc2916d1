"""Facts out of a sentence into a JSON object with given keys; the same items carry a schema to hold the server to."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from shakedown.serving.tasks.facts import FACTS, GROUPS, SENTENCES
from shakedown.serving.tasks.item import Answer, MaxTokens, Message, Question, Tool, ask, last_turn
from shakedown.serving.tasks.reading import json_object
from shakedown.serving.tasks.template import first_match, templates

_TEMPLATES = templates(
    {"keys": r"[\w, {}()]+", "text": r"[^\n]+"},
    from_text="Return JSON with keys {keys} from: {text}",
    extract="Extract {keys} as JSON: {text}",
    for_text="Return JSON with the keys {keys} for this text: {text}",
    keys_first="Return JSON with keys {keys}.\n\n{text}",
    text_first="{text}\n\nReturn JSON with keys {keys}.",
    give="Give me a JSON object with the keys {keys} for: {text}",
    turn="Turn this text into JSON with the keys {keys}.\n{text}",
    has="{text}\nAnswer with a JSON object that has the keys {keys}.",
    read="Read the text and return {keys} as a JSON object.\n\n{text}",
    form="Text: {text}\nKeys: {keys}\nReturn JSON only.",
    fill="Fill a JSON object with {keys} from this text: {text}",
    write="Write {keys} of the following as JSON, nothing else: {text}",
)
_SPELLED_OUT = ("extract", "for-text", "has", "read", "fill", "write")
_ENTRY = re.compile(r"(\w+)(?: \{([\w, ]+)\})?(?: \([\w ]+\))?")


@dataclass(frozen=True)
class _Entry:
    """One key that is asked for: a fact's, or with ``inner`` keys a group's."""

    key: str
    inner: tuple[str, ...] = ()


class Extraction:
    """One to five facts, some of them in an object of their own."""

    name = "extraction"
    max_tokens = MaxTokens(thinking=1024, plain=512)
    templates = tuple(_TEMPLATES)

    def make(self, template: str, rng: random.Random) -> Question:
        """Some facts of a sentence or all of them, in any order."""
        sentence = rng.choice(tuple(SENTENCES.values()))
        text = sentence.render({slot: fact.draw(rng) for slot, fact in FACTS.items()})
        facts = sentence.match(text) or {}
        entries = _drawn_entries(tuple(facts), rng)
        listed = [_listed(entry, facts) for entry in entries]
        joint = " and " if template in _SPELLED_OUT and len(listed) > 1 else ", "
        keys = joint.join(filter(None, (", ".join(listed[:-1]), listed[-1])))
        return Question(
            template,
            ask(_TEMPLATES[template].render({"keys": keys, "text": text})),
            _object(entries, facts),
            response_schema=_schema(entries, facts),
        )

    def solve(self, messages: Sequence[Message], tools: Sequence[Tool]) -> Answer | None:  # noqa: ARG002 - Family
        """The facts of the sentence under the keys that are asked for."""
        turn = last_turn(messages)
        found = first_match(_TEMPLATES.values(), turn) if turn else None
        sentence = first_match(SENTENCES.values(), found[1]["text"]) if found else None
        if found is None or sentence is None:
            return None
        entries = [
            _Entry(key, tuple(inner.split(", ")) if inner else ())
            for key, inner in _ENTRY.findall(found[1]["keys"].replace(" and ", ", "))
        ]
        try:
            values = _object(entries, sentence[1])
        except KeyError:
            return None
        return Answer(thinking=f"The keys are {found[1]['keys']}.", content=json.dumps(values, ensure_ascii=False))

    def read(self, answer: Answer) -> dict[str, Any]:
        """The object; the order of its keys does not count, the types of its values do."""
        return json_object(answer)


def _drawn_entries(slots: Sequence[str], rng: random.Random) -> list[_Entry]:
    slots = rng.sample(slots, rng.randint(1, len(slots))) if rng.random() < 0.4 else rng.sample(slots, len(slots))
    keys = {slot: rng.choice(FACTS[slot].keys) if rng.random() < 0.6 else FACTS[slot].keys[0] for slot in slots}
    for group, members in GROUPS.items():
        inner = [slot for slot in slots if slot in members]
        if len(inner) >= 2 and rng.random() < 0.3:
            outer = [_Entry(keys[slot]) for slot in slots if slot not in inner]
            outer.insert(rng.randint(0, len(outer)), _Entry(group, tuple(keys[slot] for slot in inner)))
            return outer
    return [_Entry(keys[slot]) for slot in slots]


def _listed(entry: _Entry, facts: Mapping[str, str]) -> str:
    if entry.inner:
        return f"{entry.key} {{{', '.join(entry.inner)}}}"
    hint = FACTS[_slot(entry.key, facts)].hint
    return f"{entry.key} ({hint})" if hint else entry.key


def _slot(key: str, facts: Mapping[str, str]) -> str:
    """The slot of the sentence that a key asks for.

    Raises:
        KeyError: the sentence does not state it.
    """
    for slot in facts:
        if key in FACTS[slot].keys:
            return slot
    raise KeyError(key)


def _object(entries: Sequence[_Entry], facts: Mapping[str, str]) -> dict[str, Any]:
    def value(key: str) -> Any:
        slot = _slot(key, facts)
        return FACTS[slot].parse(facts[slot])

    return {
        entry.key: {key: value(key) for key in entry.inner} if entry.inner else value(entry.key) for entry in entries
    }


def _schema(entries: Sequence[_Entry], facts: Mapping[str, str]) -> dict[str, Any]:
    properties = {
        entry.key: _schema([_Entry(key) for key in entry.inner], facts)
        if entry.inner
        else dict(FACTS[_slot(entry.key, facts)].schema)
        for entry in entries
    }
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}
