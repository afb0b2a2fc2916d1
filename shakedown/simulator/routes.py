"""Which path does what."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from http import HTTPStatus
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from shakedown.simulator import chat, completions, messages
from shakedown.simulator.anthropic_requests import CountRequest, MessagesRequest, to_chat
from shakedown.simulator.errors import ApiError, invalid_request
from shakedown.simulator.fault import Event
from shakedown.simulator.http import EventStream, Handler, Request, Response, encoded, json_response
from shakedown.simulator.metrics import CONTENT_TYPE
from shakedown.simulator.paths import CHAT, COMPLETIONS, COUNT_TOKENS, MESSAGES
from shakedown.simulator.requests import DetokenizeRequest, TokenizeRequest
from shakedown.simulator.server import VERSION, Server

_M = TypeVar("_M", bound=BaseModel)
_PERMISSION = {
    "id": "modelperm-0000000000000000",
    "object": "model_permission",
    "allow_create_engine": False,
    "allow_sampling": True,
    "allow_logprobs": True,
    "allow_search_indices": False,
    "allow_view": True,
    "allow_fine_tuning": False,
    "organization": "*",
    "group": None,
    "is_blocking": False,
}
_Table = dict[str, dict[str, Handler]]


class Routes:
    """All routes of a server, by path and method."""

    def __init__(self, server: Server) -> None:
        self._server = server
        every: _Table = {
            "/health": {"GET": self._health},
            "/ping": {"GET": self._health, "POST": self._health},
            "/load": {"GET": self._load},
            "/version": {"GET": self._version},
            "/metrics": {"GET": self._metrics},
            "/kv_event_sources": {"GET": self._nothing},
            "/openapi.json": {"GET": self._openapi},
            "/tokenize": {"POST": self._tokenize},
            "/detokenize": {"POST": self._detokenize},
            "/v1/models": {"GET": self._models},
            CHAT: {"POST": self._chat},
            COMPLETIONS: {"POST": self._completions},
            "/invocations": {"POST": self._invocations},
            MESSAGES: {"POST": self._messages},
            COUNT_TOKENS: {"POST": self._count_tokens},
        }
        missing = server.fault.missing_routes()
        self._table = {path: methods for path, methods in every.items() if path not in missing}

    async def answer(self, request: Request) -> Response | EventStream:
        """What a request gets, errors included."""
        methods = self._table.get(request.path)
        if methods is None:
            return json_response({"detail": "Not Found"}, HTTPStatus.NOT_FOUND)
        handler = methods.get(request.method)
        if handler is None:
            return json_response({"detail": "Method Not Allowed"}, HTTPStatus.METHOD_NOT_ALLOWED)
        key = self._server.settings.api_key
        if key and request.path.startswith("/v1") and request.headers.get("authorization") != f"Bearer {key}":
            return json_response({"error": "Unauthorized"}, HTTPStatus.UNAUTHORIZED)
        try:
            return await handler(request)
        except ApiError as error:
            return json_response(error.body, error.status)

    def _json(self, path: str, body: dict[str, Any]) -> Response:
        return json_response(self._server.fault.body(path, body))

    async def _health(self, request: Request) -> Response:  # noqa: ARG002 - Handler
        return Response(status=HTTPStatus.SERVICE_UNAVAILABLE if self._server.engine.dead else HTTPStatus.OK)

    async def _load(self, request: Request) -> Response:
        return self._json(request.path, {"server_load": len(self._server.engine.running)})

    async def _version(self, request: Request) -> Response:
        return self._json(request.path, {"version": VERSION})

    async def _nothing(self, request: Request) -> Response:
        return self._json(request.path, {})

    async def _metrics(self, request: Request) -> Response:  # noqa: ARG002 - Handler
        return Response(self._server.metrics.exposition(), media_type=CONTENT_TYPE)

    async def _openapi(self, request: Request) -> Response:
        paths = {
            path: {method.lower(): {"responses": {"200": {"description": "Successful Response"}}} for method in methods}
            for path, methods in self._table.items()
        }
        info = {"title": "vLLM, simulated", "version": VERSION}
        return self._json(request.path, {"openapi": "3.1.0", "info": info, "paths": paths})

    async def _models(self, request: Request) -> Response:
        settings = self._server.settings
        card = {
            "id": settings.served_name,
            "object": "model",
            "created": self._server.started,
            "owned_by": "vllm",
            "root": settings.root,
            "parent": None,
            "max_model_len": settings.max_model_len,
            "permission": [_PERMISSION | {"created": self._server.started}],
        }
        return self._json(request.path, {"object": "list", "data": [card]})

    async def _tokenize(self, request: Request) -> Response:
        asked = _validated(TokenizeRequest, request.json())
        self._server.check_model(asked.model)
        text = asked.prompt
        if asked.messages is not None:
            tools = [tool.rendered for tool in asked.tools] if asked.tools else None
            arguments = {**(asked.chat_template_kwargs or {}), "add_generation_prompt": asked.add_generation_prompt}
            text = self._server.render(asked.messages, tools, arguments)
        ids = self._server.model.encode(text or "")
        strings = [self._server.model.token(id) for id in ids] if asked.return_token_strs else None
        limit = self._server.settings.max_model_len
        return self._json(
            request.path, {"count": len(ids), "max_model_len": limit, "tokens": ids, "token_strs": strings}
        )

    async def _detokenize(self, request: Request) -> Response:
        asked = _validated(DetokenizeRequest, request.json())
        self._server.check_model(asked.model)
        try:
            return self._json(request.path, {"prompt": self._server.model.decode(asked.tokens)})
        except OverflowError as error:
            raise ApiError(HTTPStatus.BAD_REQUEST, str(error)) from error

    async def _chat(self, request: Request) -> Response | EventStream:
        asked = chat.parse(request.json())
        started = await chat.start(self._server, asked, request.arrived)
        if asked.stream:
            return self._stream(CHAT, chat.events(self._server, started))
        return self._json(CHAT, await chat.body(self._server, started))

    async def _completions(self, request: Request) -> Response | EventStream:
        asked = completions.parse(request.json())
        started = await completions.start(self._server, asked, request.arrived)
        if asked.stream:
            return self._stream(COMPLETIONS, completions.events(self._server, started))
        return self._json(COMPLETIONS, await completions.body(self._server, started))

    async def _invocations(self, request: Request) -> Response | EventStream:
        """Chat or completion, by what the body looks like."""
        return await (self._chat(request) if "messages" in request.json() else self._completions(request))

    async def _messages(self, request: Request) -> Response | EventStream:
        asked = _validated(MessagesRequest, request.json())
        try:
            started = await chat.start(self._server, to_chat(asked), request.arrived)
            if asked.stream:
                events = messages.message_events(chat.events(self._server, started))
                return self._stream(MESSAGES, events)
            return self._json(MESSAGES, messages.message_of(await chat.body(self._server, started)))
        except ApiError as error:
            return json_response(error.anthropic_body, error.status)

    async def _count_tokens(self, request: Request) -> Response:
        asked = _validated(CountRequest, request.json())
        try:
            count = len(self._server.model.encode(chat.prompt_of(self._server, to_chat(asked))))
        except ApiError as error:
            return json_response(error.anthropic_body, error.status)
        return self._json(request.path, {"input_tokens": count, "context_management": {"original_input_tokens": count}})

    def _stream(self, path: str, events: AsyncIterator[Event]) -> EventStream:
        return EventStream(_framed(self._server.fault.events(path, events)))


async def _framed(events: AsyncIterator[Event]) -> AsyncGenerator[bytes, None]:
    """Server-sent events; those of ``/v1/messages`` carry their type as name."""
    async with aclosing(events) as source:  # type: ignore[type-var]
        async for event in source:
            data = event if isinstance(event, bytes) else encoded(event)
            named = isinstance(event, dict) and "type" in event
            head = b"event: " + event["type"].encode() + b"\n" if named and isinstance(event, dict) else b""
            yield head + b"data: " + data + b"\n\n"


def _validated(kind: type[_M], body: dict[str, Any]) -> _M:
    try:
        return kind.model_validate(body)
    except ValidationError as error:
        raise invalid_request(error) from error
