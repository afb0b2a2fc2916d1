"""Just enough HTTP: requests with their body, JSON answers, event streams, and the end of a client's patience."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from shakedown.simulator.errors import ApiError, malformed_json

Scope = Mapping[str, Any]
Receive = Callable[[], Awaitable[Mapping[str, Any]]]
Send = Callable[[Mapping[str, Any]], Awaitable[None]]

JSON = "application/json"
EVENT_STREAM = b"text/event-stream; charset=utf-8"


@dataclass(frozen=True, slots=True)
class Request:
    """One request with its whole body.

    Attributes:
        arrived: loop time at which it was seen first.
    """

    arrived: float
    method: str
    path: str
    headers: Mapping[str, str]
    content: bytes

    def json(self) -> dict[str, Any]:
        """The body as an object.

        Raises:
            ApiError: 400, it is declared as something else or does not parse.
        """
        if self.headers.get("content-type", "").split(";")[0].strip().lower() != JSON:
            reason = "Unsupported Media Type: Only 'application/json' is allowed"
            raise ApiError(HTTPStatus.BAD_REQUEST, f"1 validation error:\n  {reason}", type="Bad Request")
        try:
            body = json.loads(self.content)
        except (json.JSONDecodeError, UnicodeDecodeError, RecursionError) as error:
            raise malformed_json(str(error)) from error
        if not isinstance(body, dict):
            raise malformed_json("the body must be an object")
        return body


@dataclass(slots=True)
class Response:
    """An answer that is sent whole."""

    content: bytes = b""
    status: int = HTTPStatus.OK
    media_type: str | None = None


@dataclass(slots=True)
class EventStream:
    """An answer that is sent in pieces as they come."""

    pieces: AsyncGenerator[bytes, None]


Handler = Callable[[Request], Awaitable[Response | EventStream]]


def encoded(value: Any) -> bytes:
    """Compact JSON in UTF-8; a NaN is written as one, as a faulty server would."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def json_response(body: Any, status: int = HTTPStatus.OK) -> Response:
    """A JSON answer."""
    return Response(encoded(body), status, JSON)


async def read_request(scope: Scope, receive: Receive) -> Request:
    """The request with its body; those that arrive together are all stamped before any of them is worked on."""
    arrived = asyncio.get_running_loop().time()
    await asyncio.sleep(0)
    content = bytearray()
    while True:
        message = await receive()
        content += message.get("body", b"")
        if not message.get("more_body"):
            break
    headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
    return Request(arrived, scope["method"], scope["path"], headers, bytes(content))


async def send_response(answer: Response | EventStream, send: Send) -> None:
    """All of an answer."""
    if isinstance(answer, EventStream):
        headers = [(b"content-type", EVENT_STREAM)]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        async with aclosing(answer.pieces) as pieces:
            async for piece in pieces:
                await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": b""})
        return
    headers = [(b"content-length", str(len(answer.content)).encode())]
    if answer.media_type:
        headers.append((b"content-type", answer.media_type.encode()))
    await send({"type": "http.response.start", "status": int(answer.status), "headers": headers})
    await send({"type": "http.response.body", "body": answer.content})


async def while_connected(work: Coroutine[Any, Any, None], receive: Receive) -> None:
    """Do the work, and give it up when the client goes away."""
    task = asyncio.create_task(work)
    gone = asyncio.create_task(_disconnected(receive))
    try:
        await asyncio.wait((task, gone), return_when=asyncio.FIRST_COMPLETED)
    finally:
        gone.cancel()
        task.cancel()
        await asyncio.gather(task, gone, return_exceptions=True)
    if not task.cancelled():
        task.result()


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
