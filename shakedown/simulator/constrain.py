"""Text that satisfies a constraint whatever the prompt says: the grammar of a server with structured output."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from jsonschema import SchemaError, ValidationError
from jsonschema.protocols import Validator
from jsonschema.validators import validator_for

from shakedown.simulator.errors import ApiError
from shakedown.simulator.pattern import example
from shakedown.simulator.requests import Sampling

_DEPTH = 16


class Constraint:
    """What the content must be."""

    def fit(self, natural: str) -> str:
        """The natural answer if it satisfies the constraint, else the plainest text that does."""
        raise NotImplementedError


class SchemaConstraint(Constraint):
    """JSON that validates."""

    def __init__(self, schema: dict[str, Any]) -> None:
        self._schema = schema
        self._validator = _validator(schema)

    def fit(self, natural: str) -> str:
        """JSON, in one line."""
        try:
            self._validator.validate(json.loads(natural))
        except (json.JSONDecodeError, ValidationError):
            return json.dumps(instance(self._schema, self._schema), ensure_ascii=False)
        return natural


class ObjectConstraint(Constraint):
    """Any JSON object."""

    def fit(self, natural: str) -> str:
        """The natural answer, put into an object if it is none."""
        try:
            if isinstance(json.loads(natural), dict):
                return natural
        except json.JSONDecodeError:
            pass
        return json.dumps({"answer": natural}, ensure_ascii=False)


class ChoiceConstraint(Constraint):
    """One of some texts."""

    def __init__(self, choices: list[str]) -> None:
        self._choices = choices

    def fit(self, natural: str) -> str:
        """The first choice that the natural answer names, else the first."""
        return next((choice for choice in self._choices if choice in natural), self._choices[0])


class PatternConstraint(Constraint):
    """A full match of a regular expression."""

    def __init__(self, pattern: str) -> None:
        try:
            self._pattern = re.compile(pattern)
        except re.error as error:
            raise ApiError(HTTPStatus.BAD_REQUEST, f"Invalid regex: {error}", param="structured_outputs") from error

    def fit(self, natural: str) -> str:
        """The shortest example if the natural answer does not match."""
        return natural if self._pattern.fullmatch(natural) else example(self._pattern.pattern)


def constraint_of(request: Sampling) -> Constraint | None:
    """What a request holds its content to.

    Raises:
        ApiError: 400, the constraint makes no sense.
    """
    wanted, structured = request.response_format, request.structured_outputs
    if wanted and wanted.type == "json_schema" and wanted.json_schema:
        return SchemaConstraint(wanted.json_schema.json_schema or {})
    if wanted and wanted.type == "json_object":
        return ObjectConstraint()
    if structured is None:
        return None
    if structured.json_schema is not None:
        return SchemaConstraint(_schema(structured.json_schema))
    if structured.choice:
        return ChoiceConstraint(structured.choice)
    if structured.regex is not None:
        return PatternConstraint(structured.regex)
    return ObjectConstraint()


def instance(schema: Mapping[str, Any], root: Mapping[str, Any], depth: int = 0) -> Any:
    """The plainest value that a schema accepts; unsupported keywords are not looked at.

    Raises:
        ApiError: 400, the schema refers to itself without end.
    """
    if depth > _DEPTH:
        raise ApiError(HTTPStatus.BAD_REQUEST, "The JSON schema is nested too deeply", param="response_format")
    if "$ref" in schema:
        return instance(_resolve(str(schema["$ref"]), root), root, depth + 1)
    for keyword in ("const", "default"):
        if keyword in schema:
            return schema[keyword]
    if schema.get("enum"):
        return schema["enum"][0]
    for keyword in ("anyOf", "oneOf", "allOf"):
        if schema.get(keyword):
            return instance(schema[keyword][0], root, depth + 1)
    return _of_type(schema, root, depth)


def _of_type(schema: Mapping[str, Any], root: Mapping[str, Any], depth: int) -> Any:
    kind = schema.get("type", "object" if "properties" in schema else "string")
    kind = kind[0] if isinstance(kind, list) else kind
    if kind == "object":
        properties = schema.get("properties", {})
        required = schema.get("required", list(properties))
        return {name: instance(properties.get(name, {}), root, depth + 1) for name in required}
    if kind == "array":
        return [instance(schema.get("items", {}), root, depth + 1)] * max(1, int(schema.get("minItems", 1)))
    if kind in ("integer", "number"):
        return schema.get("minimum", schema.get("maximum", 0))
    return {"boolean": True, "null": None}.get(kind, _string(schema))


def _string(schema: Mapping[str, Any]) -> str:
    if "pattern" in schema:
        return example(schema["pattern"])
    return "text".ljust(int(schema.get("minLength", 0)), "x")[: int(schema.get("maxLength", 4096))]


def _resolve(reference: str, root: Mapping[str, Any]) -> Mapping[str, Any]:
    target: Any = root
    for part in reference.removeprefix("#").strip("/").split("/"):
        if part:
            target = target.get(part, {}) if isinstance(target, Mapping) else {}
    return target if isinstance(target, Mapping) else {}


def _schema(given: str | dict[str, Any]) -> dict[str, Any]:
    if isinstance(given, dict):
        return given
    try:
        schema = json.loads(given)
    except json.JSONDecodeError as error:
        raise ApiError(HTTPStatus.BAD_REQUEST, f"Invalid JSON schema: {error}", param="structured_outputs") from error
    return schema if isinstance(schema, dict) else {}


def _validator(schema: dict[str, Any]) -> Validator:
    kind = validator_for(schema)
    try:
        kind.check_schema(schema)
    except SchemaError as error:
        raise ApiError(
            HTTPStatus.BAD_REQUEST, f"Invalid JSON schema: {error.message}", param="response_format"
        ) from error
    return kind(schema)
