"""What all routes share: the model, the engine, the counters, and the one fault that may be in them."""

from __future__ import annotations

import time
import uuid
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from shakedown.simulator.engine import Engine
from shakedown.simulator.errors import ApiError
from shakedown.simulator.faults.base import Fault
from shakedown.simulator.metrics import Metrics
from shakedown.simulator.model import Model
from shakedown.simulator.settings import Settings

VERSION = "0.32.0"
FINGERPRINT = f"vllm-{VERSION}-simulated"


class Server:
    """One simulated server.

    Attributes:
        settings: as changed by the fault.
    """

    def __init__(self, settings: Settings, fault: Fault) -> None:
        self.settings = fault.configure(settings)
        self.fault = fault
        self.model = Model(self.settings.model)
        self.metrics = Metrics(self.settings.served_name)
        self.engine = Engine(self.settings.timing, self.settings.max_concurrency, self.metrics, fault)
        self.started = int(time.time())

    def check_model(self, name: str | None) -> None:
        """Refuse a model that is not served.

        Raises:
            ApiError: 404.
        """
        if name and name != self.settings.served_name:
            raise ApiError(HTTPStatus.NOT_FOUND, f"The model `{name}` does not exist.", param="model")

    def render(
        self,
        messages: Sequence[Mapping[str, Any]],
        tools: Sequence[Mapping[str, Any]] | None,
        arguments: Mapping[str, Any],
    ) -> str:
        """The prompt of a conversation.

        Raises:
            ApiError: 400, there is none, or the template refuses it.
        """
        if not messages:
            raise ApiError(HTTPStatus.BAD_REQUEST, "messages must not be empty", param="messages")
        return self.model.render(messages, tools, **self.fault.template_arguments(dict(arguments)))

    def room(self, prompt_tokens: int, asked: int | None, name: str) -> int:
        """How many tokens may be generated after a prompt.

        Raises:
            ApiError: 400, the prompt alone, or what is asked for, is longer than the model can take.
        """
        limit = self.settings.max_model_len
        if asked is not None and asked > limit:
            message = f"{name}={asked} cannot be greater than max_model_len={limit}."
            raise ApiError(HTTPStatus.BAD_REQUEST, f"{message} Please request fewer output tokens.", param=name)
        if prompt_tokens >= limit:
            message = (
                f"This model's maximum context length is {limit} tokens. However, your prompt contains {prompt_tokens} "
                "input tokens, which exceeds this limit even without any output tokens. "
                "Please reduce the length of the input prompt."
            )
            error = ApiError(HTTPStatus.BAD_REQUEST, message, param="input_tokens")
            raise self.fault.oversize(error, self.engine)
        return limit - prompt_tokens if asked is None else min(asked, limit - prompt_tokens)


def new_id() -> str:
    """Sixteen hexadecimal digits."""
    return uuid.uuid4().hex[:16]
