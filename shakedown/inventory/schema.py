"""The typed model as a judge of a parsed file: keys that are unknown or missing, values of the wrong type or range."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from shakedown.inventory.model import Deployment
from shakedown.inventory.problems import Path, Problem, dotted, found, unknown_key
from shakedown.inventory.profile import Profile

SECRET = ("serve", "api_key_env")
"""Its value is never repeated: whoever gets this key wrong has written the secret itself."""

_ALLOWED = {
    "string_type": "a string",
    "path_type": "a string",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "finite_number": "a finite number",
    "bool_type": "true or false",
    "greater_than": "a number greater than {gt:g}",
    "greater_than_equal": "a number of at least {ge:g}",
    "less_than": "a number less than {lt:g}",
    "less_than_equal": "a number of at most {le:g}",
    "date_type": "a date, such as 2026-12-31",
    "date_parsing": "a date, such as 2026-12-31",
    "date_from_datetime_parsing": "a date, such as 2026-12-31",
    "too_short": "at least {min_length} of them",
    "ip_v4_address": "a string",
    "ip_v4_network": "a string",
    "value_error": "{error}",
}


def typed(document: Mapping[str, Any], profile: Profile) -> Deployment:
    """The deployment that a parsed file describes; types are taken as they are, ``"1"`` is no number.

    Raises:
        ValidationError: see `problems_of_types`.
    """
    text = json.dumps({**document, "profile": profile.model_dump(mode="json")}, default=str)  # str: of a date
    return Deployment.model_validate_json(text, strict=True)


def problems_of_types(error: ValidationError, document: Mapping[str, Any]) -> Iterator[Problem]:
    """What the model refuses, one problem a key: alternatives of one value are put together."""
    merged: dict[Path, list[str]] = {}
    for details in error.errors(include_url=False):
        path = _path(details, document)
        if details["type"] == "missing":
            yield Problem(path, "missing; it is required, deployment.example.toml explains it")
        elif details["type"] == "extra_forbidden":
            yield unknown_key(path, TABLES.get(_keys(path[:-1]), ()), all_keys())
        elif not _only_the_good_ones_are_few(details, document):
            merged.setdefault(path, []).append(_allowed(details, path))
    for path, allowed in merged.items():
        value = _at(path, document) if path != SECRET else None
        yield Problem(path, found(value, " or ".join(allowed)) if path != SECRET else f"allowed: {allowed[0]}")


def _allowed(details: ErrorDetails, path: Path) -> str:
    kind = details["type"]
    context = details.get("ctx", {})
    if kind == "literal_error":
        return str(context["expected"]).replace("'", '"')
    if kind in ("tuple_type", "list_type"):
        return f"an array of tables, [[{dotted(path)}]]" if _keys(path) in TABLES else "an array"
    if kind in ("model_type", "model_attributes_type", "dict_type"):
        return f"a table, [{dotted(path)}]" if _keys(path) == path else "a table"
    return _ALLOWED[kind].format(**context) if kind in _ALLOWED else details["msg"]


def _path(details: ErrorDetails, document: Mapping[str, Any]) -> Path:
    """Where the file has it: pydantic adds the alternative that it tried to the end of its own location."""
    location: Path = details["loc"]
    if details["type"] == "missing":
        return location
    for length in range(len(location), 0, -1):
        if _holds(location[:length], document):
            return location[:length]
    return location


def _only_the_good_ones_are_few(details: ErrorDetails, document: Mapping[str, Any]) -> bool:
    """Pydantic counts the valid items of an array; the file may have enough, and the others are reported each."""
    if details["type"] != "too_short":
        return False
    value = _at(details["loc"], document)
    return len(value) >= int(details["ctx"]["min_length"])


def _holds(path: Path, document: Any) -> bool:
    try:
        _at(path, document)
    except (KeyError, IndexError, TypeError):
        return False
    return True


def _at(path: Path, value: Any) -> Any:
    for part in path:
        if isinstance(value, str):
            raise TypeError("a string holds no keys")
        value = value[part]
    return value


def _keys(path: Path) -> tuple[str, ...]:
    return tuple(part for part in path if isinstance(part, str))


def all_keys() -> list[str]:
    """Every key that stands in a table, dotted."""
    return [dotted((*table, key)) for table, keys in TABLES.items() if table for key in keys]


def _tables(model: type[BaseModel], path: tuple[str, ...] = ()) -> dict[tuple[str, ...], tuple[str, ...]]:
    names = [name for name, field in model.model_fields.items() if not field.exclude]
    tables = {path: tuple(names)}
    for name in names:
        section = _section(model.model_fields[name].annotation)
        if section is not None:
            tables |= _tables(section, (*path, name))
    return tables


def _section(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    parts = get_args(annotation)[:1] if get_origin(annotation) is Annotated else get_args(annotation)
    return next((section for section in map(_section, parts) if section is not None), None)


TABLES = _tables(Deployment)
"""Keys of every table, by the path of the table without indices."""
