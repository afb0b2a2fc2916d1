"""What all routes share: the model, the engine, the counters, and the one fault that may be in them."""

from __future__ import annotations

import time
import uuid
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from shakedown.simulator.engine import Engine
from shakedown.simulator.errors import ApiError, refused
from shakedown.simulator.fault import Fault
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
            known = f"Valid aliases: {self.settings.served_name}."
            raise ApiError(HTTPStatus.NOT_FOUND, f"The model `{name}` does not exist. {known}", param="model")

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
            raise refused("The chat template needs at least one message.")
        return self.model.render(messages, tools, **self.fault.template_arguments(dict(arguments)))

    def encode(self, prompt: str) -> list[int]:
        """The tokens of a prompt.

        Raises:
            ApiError: 400, it has so many characters that no count is needed to know that it is too long.
        """
        characters = self.settings.max_model_len * self.model.longest_token
        if len(prompt) > characters:
            found = f"{len(prompt)} characters (more than {characters}, which is the most that so many tokens can have)"
            raise self._oversize(found, "input_text", len(prompt))
        return self.model.encode(prompt)

    def room(self, prompt_tokens: int, asked: int | None, name: str) -> int:
        """How many tokens may be generated after a prompt; 0 if it fills the model's length.

        Raises:
            ApiError: 400, the prompt alone, or what is asked for, is longer than the model can take.
        """
        limit = self.settings.max_model_len
        if asked is not None and asked > limit:
            message = f"{name}={asked} cannot be greater than max_model_len={limit}."
            raise refused(f"{message} Please request fewer output tokens.", name, asked)
        if prompt_tokens > limit:
            found = f"at least {limit + 1} input tokens, which exceeds this limit even without any output tokens"
            raise self._oversize(found, "input_tokens", limit + 1)
        return limit - prompt_tokens if asked is None else min(asked, limit - prompt_tokens)

    def _oversize(self, found: str, param: str, value: int) -> ApiError:
        limit = f"This model's maximum context length is {self.settings.max_model_len} tokens."
        message = f"{limit} However, your prompt contains {found}. Please reduce the length of the input prompt."
        return self.fault.oversize(refused(message, param, value), self.engine)


def new_id() -> str:
    """Sixteen hexadecimal digits."""
    return uuid.uuid4().hex[:16]
