"""The client that all serving checks send with: raw HTTP, every byte kept with its time, errors kept as data.

The official SDKs parse leniently, retry and drop what they do not know; they are only used to show that they can read
the answers.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from types import TracebackType
from typing import Self

import httpx

from shakedown.inventory.api_key import api_key
from shakedown.inventory.model import Deployment
from shakedown.serving.exchange import Arrival, Exchange, Failure, Request

CONNECT_TIMEOUT_S = 5.0
"""On one network a connection stands in milliseconds; five seconds cover a lost SYN and its first two repeats."""
IDLE_S = 2.0
"""A connection that was idle for longer is not used again: uvicorn, and so vLLM, closes one after 5 s, and a request
that leaves at that very moment dies without an answer, which would be held against the server."""

AT_ONCE = 8
"""Requests in flight unless a plan asks for more: enough to be batched, too few to queue on any real deployment."""

REDACTED = b"[redacted]"
SECRET_HEADERS = frozenset({"authorization", "x-api-key", "cookie", "set-cookie", "proxy-authorization"})


class Client:
    """An asynchronous client of one server; an asynchronous context manager.

    The key, where the deployment has one, goes into the header of each request and nowhere else: it is never part of
    a recorded request, and where a server sends it back it is replaced before anything is kept.
    """

    def __init__(self, base_url: str, api_key: str | None = None) -> None:
        self.base_url = base_url.rstrip("/")
        self._key = api_key
        headers = {"Accept-Encoding": "identity"}
        if api_key:
            headers["Authorization"] = f"Bearer {api_key}"
        self._http = httpx.AsyncClient(
            base_url=self.base_url,
            headers=headers,
            timeout=httpx.Timeout(None, connect=CONNECT_TIMEOUT_S),
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=AT_ONCE, keepalive_expiry=IDLE_S),
            trust_env=False,
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._http.aclose()

    async def send(self, name: str, request: Request) -> Exchange:
        """Send once and keep what comes back; never raises for what a server or a network does."""
        sent_at = datetime.now(UTC).isoformat(timespec="milliseconds")
        arrivals: list[Arrival] = []
        head: list[httpx.Response] = []
        failure: Failure | None = None
        began = time.monotonic()
        try:
            async with asyncio.timeout(request.deadline_s):
                await self._receive(request, head, arrivals, began)
        except TimeoutError:
            failure = Failure("timeout", f"no complete answer within {request.deadline_s:g} s")
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            failure = Failure("no connection", str(error))
        except httpx.HTTPError as error:
            failure = Failure("cut off", f"{type(error).__name__}: {error}")
        response = head[0] if head else None
        return Exchange(
            name=name,
            request=request,
            sent_at=sent_at,
            status=response.status_code if response else None,
            headers=self._recorded(response.headers) if response else {},
            arrivals=self._without_key(tuple(arrivals)),
            elapsed_s=time.monotonic() - began,
            failure=failure,
        )

    async def send_all(
        self,
        plan: Mapping[str, Request],
        at_once: int = AT_ONCE,
        ended: Callable[[Exchange], None] | None = None,
    ) -> list[Exchange]:
        """Send a whole plan with at most ``at_once`` requests in flight; answers in the order of the plan.

        ``ended`` gets every exchange when it ends, in whatever order that is.
        """
        places = asyncio.Semaphore(at_once)

        async def send(name: str, request: Request) -> Exchange:
            async with places:
                exchange = await self.send(name, request)
            if ended:
                ended(exchange)
            return exchange

        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(send(name, request)) for name, request in plan.items()]
        return [task.result() for task in tasks]

    async def _receive(
        self, request: Request, head: list[httpx.Response], arrivals: list[Arrival], began: float
    ) -> None:
        async with self._http.stream(request.method, request.path, json=request.body) as response:
            head.append(response)
            async for data in response.aiter_raw():
                arrivals.append(Arrival(time.monotonic() - began, data))

    def _recorded(self, headers: httpx.Headers) -> dict[str, str]:
        return {
            name.lower(): REDACTED.decode() if name.lower() in SECRET_HEADERS or self._holds_key(value) else value
            for name, value in headers.items()
        }

    def _holds_key(self, value: str) -> bool:
        return bool(self._key) and str(self._key) in value

    def _without_key(self, arrivals: tuple[Arrival, ...]) -> tuple[Arrival, ...]:
        key = (self._key or "").encode()
        whole = b"".join(arrival.data for arrival in arrivals)
        if not key or key not in whole:
            return arrivals
        # The key may lie across two reads, so the reads are given up, and with them all times but the last.
        return (Arrival(arrivals[-1].at_s, whole.replace(key, REDACTED)),)


def client_for(deployment: Deployment) -> Client:
    """The client of a deployment's API.

    Raises:
        MissingPrerequisiteError: the deployment file names a variable for the API key and it is not set.
    """
    return Client(deployment.serve.base_url, api_key(deployment))
