"""What a server is, told without generating a token: its version, its routes, its models."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from shakedown.engines.vllm import wire
from shakedown.engines.vllm.wire import Route, Version, parse_version, required_routes
from shakedown.serving.answer import as_dict, as_list, as_str
from shakedown.serving.exchange import Exchange, shortened


@dataclass(frozen=True, slots=True)
class ServedModel:
    """One entry of ``/v1/models``."""

    id: str
    root: str
    max_model_len: int | None


def served_models(exchange: Exchange) -> tuple[ServedModel, ...]:
    """The entries of ``/v1/models``; empty where the body has another shape."""
    entries = map(as_dict, as_list(as_dict(exchange.json).get("data")))
    return tuple(
        ServedModel(as_str(entry.get("id")), as_str(entry.get("root")), entry.get("max_model_len")) for entry in entries
    )


def version_of(exchange: Exchange) -> Version | None:
    """The release that ``/version`` names; None where it names none."""
    try:
        return parse_version(_version(exchange))
    except ValueError:
        return None


def is_unnumbered(exchange: Exchange) -> bool:
    """Whether ``/version`` names a build from sources that may be of any release."""
    return wire.is_unnumbered(_version(exchange))


def _version(exchange: Exchange) -> str:
    return as_str(as_dict(exchange.json).get("version"))


def missing_routes(schema: Exchange, version: Version) -> tuple[Route, ...]:
    """Routes that this release must have and ``/openapi.json`` does not list."""
    paths: Mapping[str, Any] = as_dict(as_dict(schema.json).get("paths"))
    return tuple(route for route in required_routes(version) if route.method not in as_dict(paths.get(route.path)))


def said(exchange: Exchange) -> str:
    """What came, in one line, for a finding."""
    return exchange.problem or shortened(exchange.text)
