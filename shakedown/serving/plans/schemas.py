"""Requests whose answer is bound to a JSON schema, with prompts that want it and prompts that want something else.

Every value is bounded (enumerated, or a few small letters), so that a grammar which is enforced always comes to its
end, whatever the model would rather write; a string without a pattern would hold the template's own tags as well.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shakedown.serving.corpus import Plan
from shakedown.serving.exchange import Request
from shakedown.serving.plans.naming import named, streamed, way
from shakedown.serving.requests import ask, chat
from shakedown.serving.setting import Setting
from shakedown.serving.tasks import generate

Schema = Mapping[str, Any]

WORD = {"type": "string", "pattern": "^[a-z]{1,12}$"}
DIGIT = {"type": "integer", "enum": [1, 2, 3, 5, 8]}


def _object(**properties: Schema) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


SCHEMAS: dict[str, Schema] = {
    "flat": _object(word=WORD, count=DIGIT),
    "nested": _object(outer=_object(inner=_object(word=WORD))),
    "enum": _object(color={"type": "string", "enum": ["amber", "blue", "green"]}, on={"type": "boolean"}),
    "array": _object(items={"type": "array", "items": DIGIT, "minItems": 2, "maxItems": 4}),
    "any-of": _object(value={"anyOf": [DIGIT, {"type": "null"}]}),
    "ref": {**_object(first={"$ref": "#/$defs/word"}, second={"$ref": "#/$defs/word"}), "$defs": {"word": WORD}},
}
"""One schema for each construct that grammar compilers are known to differ in."""

LIMIT = 160
"""Tokens: three times what the longest of these objects takes."""

NO_ENDLESS_SPACE = 1.5
"""Frequency penalty. JSON allows white space without end between tokens, and a model that would rather write something
else takes it: without a penalty a small one fills half of these answers with it, with 1.0 none of 288 did."""


def bound(setting: Setting) -> Plan:
    """Extraction with its own schema, whole and streamed, thinking off and on."""
    plan: dict[str, Request] = {}
    for item in generate("extraction", seed=setting.seed + 3, n=8):
        thinking = setting.reasoning and item.index >= 4
        mode = f"{'thinking' if thinking else 'plain'}-{way(streamed(item.index))}"
        plan[f"{item.id}-{mode}"] = ask(
            setting,
            item,
            thinking=thinking,
            stream=streamed(item.index),
            response_format=response_format(item.response_schema or {}),
        )
    return named("bound", plan)


def against_the_prompt(setting: Setting) -> Plan:
    """The prompt orders one word and the schema an object, for every schema, whole and streamed."""
    plan: dict[str, Request] = {}
    items = generate("exact-word", seed=setting.seed + 4, n=2 * len(SCHEMAS))
    for item, (name, stream) in zip(
        items, ((name, stream) for name in SCHEMAS for stream in (False, True)), strict=True
    ):
        plan[f"{name}-{way(stream)}"] = chat(
            setting,
            item.messages,
            max_tokens=setting.room(LIMIT),
            thinking=False,
            stream=stream,
            response_format=response_format(SCHEMAS[name]),
            frequency_penalty=NO_ENDLESS_SPACE,
        )
    return named("against_the_prompt", plan)


def response_format(schema: Schema) -> dict[str, Any]:
    """The field of a request that binds its answer to a schema."""
    return {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema, "strict": True}}
