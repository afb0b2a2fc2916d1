"""The proof that a launch is ready: neither an open port nor a line of a log, but one token that was generated.

A forward pass needs every rank of tensor and pipeline parallelism, so a single token shows that all of them work.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

import httpx

from shakedown.inventory.api_key import api_key
from shakedown.inventory.model import Deployment

CONNECT_S = 5.0
"""On one network a connection stands in milliseconds; five seconds cover a lost packet and its repeats."""

FIRST_REQUEST_S = 180.0
"""The first request may still compile kernels: a minute and a half was seen where nothing was warm."""

PROMPT = "1 2 3"
_EXCERPT = 200


@dataclass(frozen=True, slots=True)
class Proved:
    """A request for one token has ended; an event of the watch like all others.

    Attributes:
        at: when, seconds since the epoch.
        tokens: that the server counted in its answer; 0 where the proof failed.
        took_s: from sending the request to the whole answer, s: the time of the first request.
        why: what was wrong; empty where it is proved.
    """

    at: float
    tokens: int
    took_s: float
    why: str = ""

    @property
    def ok(self) -> bool:
        """Whether the deployment generates."""
        return not self.why


def prove(deployment: Deployment, limit_s: float = FIRST_REQUEST_S, clock: Callable[[], float] = time.time) -> Proved:
    """Ask for one token, once. Never raises for what a server or a network does.

    Raises:
        MissingPrerequisiteError: the variable of the API key is not set.
    """
    body = {"model": deployment.model.served_name, "prompt": PROMPT, "max_tokens": 1, "temperature": 0}
    began = time.monotonic()
    tokens, why = 0, ""
    with _client(deployment, limit_s) as client:
        try:
            answer = client.post("/v1/completions", json=body)
            if answer.status_code == HTTPStatus.OK:
                tokens, why = _tokens(answer.json())
            else:
                why = f"/v1/completions says {answer.status_code}: {answer.text[:_EXCERPT]}"
        except (httpx.HTTPError, ValueError) as error:
            why = f"/v1/completions: {_why(error)}"
    return Proved(clock(), tokens, time.monotonic() - began, why)


def _tokens(answer: Any) -> tuple[int, str]:
    """Completion tokens of an answer, and what is wrong with it."""
    try:
        tokens, choices = answer["usage"]["completion_tokens"], answer["choices"]
    except (KeyError, TypeError):
        return 0, "the answer has no usage or no choices"
    if not isinstance(tokens, int) or not isinstance(choices, list):
        return 0, "the answer has no usage or no choices"
    if tokens < 1 or not choices:
        return 0, f"the answer has {tokens} tokens in {len(choices)} choices"
    return tokens, ""


def _client(deployment: Deployment, limit_s: float) -> httpx.Client:
    """Asks directly, as every request of the suite: a proxy's answer would be about the proxy."""
    key = api_key(deployment)
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    timeout = httpx.Timeout(limit_s, connect=CONNECT_S)
    return httpx.Client(base_url=deployment.serve.base_url, headers=headers, timeout=timeout, trust_env=False)


def _why(error: Exception) -> str:
    if isinstance(error, httpx.TimeoutException):
        return "no answer in time"
    return f"{type(error).__name__}: {error}"
