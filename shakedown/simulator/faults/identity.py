"""The server is not what it should be: another model, another length, another tokenizer, no engine behind it."""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace
from http import HTTPStatus
from typing import Any

from shakedown.simulator.errors import ApiError
from shakedown.simulator.fault import Fault
from shakedown.simulator.job import Batch, Job
from shakedown.simulator.settings import Settings

_HANG_S = 0.05
_OUTSIDE_LATIN = re.compile("[^\x00-\xff]")


class WrongModelId(Fault):
    """A gateway that lists another model than the one it routes to."""

    name = "wrong-model-id"
    summary = "/v1/models lists another id than the declared one"
    source = "vllm-project/vllm#34326"

    def body(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """Only the list is wrong."""
        if path == "/v1/models":
            card = body["data"][0]
            return {**body, "data": [{**card, "id": card["id"] + "-preview"}]}
        return body


class ShortMaxModelLen(Fault):
    """Started with half the planned length."""

    name = "short-max-model-len"
    summary = "the server was started with half the declared max_model_len"

    def configure(self, settings: Settings) -> Settings:
        """Half the length, on every route and for every prompt."""
        return replace(settings, max_model_len=settings.max_model_len // 2)


class TokenizerManglesUnicode(Fault):
    """Characters that span several tokens do not survive."""

    name = "tokenizer-mangles-unicode"
    summary = "/detokenize returns U+FFFD for characters outside Latin-1"
    source = "vllm-project/vllm#8627"

    def body(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """Replacement characters instead."""
        if path == "/detokenize":
            return {**body, "prompt": _OUTSIDE_LATIN.sub("\N{REPLACEMENT CHARACTER}", body["prompt"])}
        return body


class RouteMissing(Fault):
    """A proxy or a build that leaves a route out."""

    name = "route-missing"
    summary = "/v1/completions answers 404"

    def missing_routes(self) -> frozenset[str]:
        """One of the engine's routes."""
        return frozenset({"/v1/completions"})


class HealthWithoutEngine(Fault):
    """Workers died, the API server did not notice."""

    name = "health-without-engine"
    summary = "/health says 200, every generation hangs briefly and ends with 500"
    source = "vllm-project/vllm#16259"

    async def before_generation(self, engine: Batch, job: Job) -> None:
        """Nobody answers."""
        del engine, job
        await asyncio.sleep(_HANG_S)
        raise ApiError(HTTPStatus.INTERNAL_SERVER_ERROR, "EngineCore encountered an issue.")
