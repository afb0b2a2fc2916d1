"""Where a fault can bite: every method is a place on the way of a request, and does nothing unless overridden."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any

from shakedown.serving.tasks import Answer
from shakedown.simulator.errors import ApiError
from shakedown.simulator.job import Batch, Job
from shakedown.simulator.parsing import OutputParser
from shakedown.simulator.settings import Settings

Event = Mapping[str, Any] | bytes
"""One event of a stream: the object that is sent, or raw bytes that are sent as they are."""


class Fault:
    """One named way to be wrong; the base class is a healthy server.

    Attributes:
        name: as it is asked for.
        summary: what is wrong, for ``--list-faults``.
        source: the public report that it reproduces, if there is one.
    """

    name = "none"
    summary = "nothing is wrong"
    source = ""

    def configure(self, settings: Settings) -> Settings:
        """The settings that the server really starts with."""
        return settings

    def missing_routes(self) -> frozenset[str]:
        """Paths that do not exist."""
        return frozenset()

    def template_arguments(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """What the chat template gets to know."""
        return arguments

    def answer(self, answer: Answer, family: str | None, *, constrained: bool) -> Answer:
        """What the model says: to which kind of task, and whether a grammar held it while it spoke."""
        del family, constrained
        return answer

    def ignores_schema(self) -> bool:
        """Whether structured output is asked for in vain."""
        return False

    def parser(self, parser: type[OutputParser], *, streamed: bool) -> type[OutputParser]:
        """The class that tells reasoning, content and calls apart."""
        del streamed
        return parser

    def oversize(self, error: ApiError, engine: Batch) -> ApiError:
        """The answer to a prompt that is too long."""
        del engine
        return error

    async def before_generation(self, engine: Batch, job: Job) -> None:
        """When a request reaches the engine.

        Raises:
            ApiError: it is refused.
        """

    def stall_s(self, engine: Batch, job: Job, position: int) -> float:
        """Seconds by which the token at this position and all later ones are late."""
        del engine, job, position
        return 0.0

    def during_generation(self, engine: Batch, job: Job, position: int) -> None:
        """When the token at this position is due.

        Raises:
            ApiError: generation fails at that point.
        """

    def counted(self, tokens: int, *, first: bool) -> int:
        """How many generated tokens the metrics see; ``first`` if the request's first token is among them."""
        del first
        return tokens

    def body(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """A JSON body that is sent with status 200."""
        del path
        return body

    def events(self, path: str, events: AsyncIterator[Event]) -> AsyncIterator[Event]:
        """The events of a stream; `DONE` is the last."""
        del path
        return events
