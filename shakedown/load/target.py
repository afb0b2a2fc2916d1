"""Where load goes: the served API of a deployment."""

from __future__ import annotations

from dataclasses import dataclass, field

import httpx

from shakedown.errors import ServerError
from shakedown.inventory.api_key import api_key
from shakedown.inventory.model import Deployment

QUICK_S = 30.0


@dataclass(frozen=True, slots=True)
class Target:
    """Where requests go.

    Attributes:
        base_url: scheme, host and port, without ``/v1``.
        model: name to ask for.
        api_key: sent as a bearer token, kept out of ``repr``; None sends none.
    """

    base_url: str
    model: str
    api_key: str | None = field(default=None, repr=False)

    @property
    def headers(self) -> dict[str, str]:
        """Of every request. No compression: a compressor would hold tokens back."""
        key = {"Authorization": f"Bearer {self.api_key}"} if self.api_key else {}
        return {"Accept-Encoding": "identity", **key}

    def client(self) -> httpx.Client:
        """A client for the questions around a run, not for the run."""
        return httpx.Client(base_url=self.base_url, headers=self.headers, timeout=QUICK_S, trust_env=False)


def target_of(deployment: Deployment) -> Target:
    """The served API of a deployment.

    Raises:
        MissingPrerequisiteError: the deployment file names a variable for the API key and it is not set.
    """
    return Target(
        base_url=deployment.serve.base_url,
        model=deployment.model.served_name,
        api_key=api_key(deployment),
    )


def engine_version(target: Target) -> str:
    """What ``/version`` says: ``0.32.0``.

    Raises:
        ServerError: it says nothing.
    """
    try:
        with target.client() as client:
            return str(client.get("/version").raise_for_status().json()["version"])
    except (httpx.HTTPError, ValueError, KeyError, TypeError) as error:
        raise ServerError(f"{target.base_url}/version gave no version: {type(error).__name__}: {error}") from error
