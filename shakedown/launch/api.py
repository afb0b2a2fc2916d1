"""The API as a client on this machine finds it, asked once a second."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from dataclasses import replace

import httpx

from shakedown.inventory.model import Deployment
from shakedown.launch.events import Answered, Event

EVERY_S = 1.0
TIMEOUT_S = 2.0
"""A healthy server answers both in milliseconds; one that computes without end does not, and that is told."""

TELL_S = 10.0
"""An answer that is as before is told again after so long."""


class ApiThread(threading.Thread):
    """Asks until it is told to stop.

    Args:
        deployment: whose API.
        emit: takes events.
        stopped: set when all is to end.
    """

    def __init__(self, deployment: Deployment, emit: Callable[[Event], None], stopped: threading.Event) -> None:
        super().__init__(name="asks the API", daemon=True)
        self._url = deployment.serve.base_url
        self._variable = deployment.serve.api_key_env
        self._emit = emit
        self._stopped = stopped

    def run(self) -> None:
        """Ask, and tell what is new."""
        told: Answered | None = None
        key = os.environ.get(self._variable, "") if self._variable else ""
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        with httpx.Client(base_url=self._url, headers=headers, timeout=TIMEOUT_S, trust_env=False) as client:
            while not self._stopped.is_set():
                answer = self._ask(client)
                if told is None or replace(told, at=answer.at) != answer or answer.at - told.at >= TELL_S:
                    told = answer
                    self._emit(answer)
                self._stopped.wait(EVERY_S)

    def _ask(self, client: httpx.Client) -> Answered:
        health: int | None = None
        try:
            health = client.get("/health").status_code
            models, why = self._models(client.get("/v1/models"))
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            models, why = (), _words(error)
        return Answered(time.time(), health, models, why)

    def _models(self, answer: httpx.Response) -> tuple[tuple[str, ...], str]:
        if not answer.is_success:
            unset = self._variable and not os.environ.get(self._variable)
            return (), f"GET /v1/models: {answer.status_code}" + (f"; ${self._variable} is not set" if unset else "")
        try:
            return tuple(str(model["id"]) for model in answer.json()["data"]), ""
        except (ValueError, KeyError, TypeError) as error:
            return (), f"GET /v1/models: no list of models ({type(error).__name__})"


def _words(error: Exception) -> str:
    """What happened, without the parts that differ from one attempt to the next."""
    if isinstance(error, httpx.TimeoutException):
        return f"no answer within {TIMEOUT_S:g} s"
    return str(error) or type(error).__name__
