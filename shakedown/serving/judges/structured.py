"""SO: an answer that was bound to a JSON schema keeps to it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import jsonschema

from shakedown.serving.answer import Answer, as_dict
from shakedown.serving.exchange import shortened


def conforms(answer: Answer) -> Iterator[str]:
    """SO-01, SO-05: the content is JSON and validates against the schema of its own request."""
    if answer.finish != "stop":
        yield f"finish is {answer.finish}, so that nothing can be said of the schema; content {_short(answer)}"
        return
    try:
        value = json.loads(answer.content)
    except ValueError:
        yield f"no JSON: {_short(answer)}"
        return
    error = next(iter(jsonschema.Draft202012Validator(schema_of(answer)).iter_errors(value)), None)
    if error is not None:
        yield f"{_short(answer)} against the schema: {shortened(error.message)}"


def schema_of(answer: Answer) -> Mapping[str, Any]:
    """The schema that the request binds its answer to."""
    body = answer.exchange.request.body or {}
    return as_dict(as_dict(as_dict(body.get("response_format")).get("json_schema")).get("schema"))


def _short(answer: Answer) -> str:
    return repr(shortened(answer.content, 90))
