"""Items put to a server with the OpenAI API, in one piece or as a stream."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

import httpx

from shakedown.serving.tasks import Answer, Item, ToolCall

_TIMEOUT_S = 600.0
_IDLE_S = 2.0  # well below the 5 s after which vLLM closes an idle connection


@dataclass(frozen=True, slots=True)
class Said:
    """An answer, and how many tokens were generated for it."""

    answer: Answer
    tokens: int


class Server:
    """A served model, as an async context.

    Args:
        url: up to and without ``/v1``.
        name: of the served model.
        concurrency: requests at once.
    """

    def __init__(self, url: str, name: str, concurrency: int) -> None:
        self.concurrency = concurrency
        self._name = name
        limits = httpx.Limits(max_connections=concurrency, keepalive_expiry=_IDLE_S)
        self._client = httpx.AsyncClient(base_url=url, timeout=_TIMEOUT_S, limits=limits)

    async def __aenter__(self) -> Self:
        await self._client.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._client.__aexit__(kind, error, trace)

    async def ask_all(
        self, items: Sequence[Item], *, thinking: bool, streamed: bool = False, at_once: int | None = None
    ) -> tuple[list[Said], float]:
        """Answers in the order of the items, and the seconds that all of them took."""
        places = asyncio.Semaphore(at_once or self.concurrency)

        async def ask(item: Item) -> Said:
            async with places:
                return await self.ask(item, thinking=thinking, streamed=streamed)

        began = time.monotonic()
        said = await asyncio.gather(*map(ask, items))
        return list(said), time.monotonic() - began

    async def ask(self, item: Item, *, thinking: bool, streamed: bool) -> Said:
        """One answer, greedily.

        Raises:
            httpx.HTTPError: the server cannot be reached or refuses: this is an evaluation of a model, not of it.
        """
        body: dict[str, Any] = {
            "model": self._name,
            "messages": item.messages,
            "temperature": 0,
            "max_tokens": item.max_tokens.thinking if thinking else item.max_tokens.plain,
            "chat_template_kwargs": {"enable_thinking": thinking},
        }
        if item.tools:
            body["tools"] = item.tools
        return await (self._stream(body) if streamed else self._whole(body))

    async def _whole(self, body: dict[str, Any]) -> Said:
        response = await self._client.post("/v1/chat/completions", json=body)
        response.raise_for_status()
        told = response.json()
        choice = told["choices"][0]
        message = choice["message"]
        calls = tuple(
            ToolCall(call["function"]["name"], call["function"]["arguments"])
            for call in message.get("tool_calls") or ()
        )
        answer = Answer(message.get("reasoning") or "", message.get("content") or "", calls, choice["finish_reason"])
        return Said(answer, told["usage"]["completion_tokens"])

    async def _stream(self, body: dict[str, Any]) -> Said:
        gathered = _Gathered()
        body = body | {"stream": True, "stream_options": {"include_usage": True}}
        async with self._client.stream("POST", "/v1/chat/completions", json=body) as response:
            response.raise_for_status()
            async for line in response.aiter_lines():
                data = line.removeprefix("data: ")
                if data != line and data != "[DONE]":
                    gathered.take(json.loads(data))
        return gathered.said


class _Gathered:
    """The deltas of a stream put together."""

    def __init__(self) -> None:
        self._reasoning, self._content = "", ""
        self._calls: dict[int, tuple[str, str]] = {}
        self._finish: str | None = None
        self._tokens = 0

    def take(self, event: dict[str, Any]) -> None:
        if event.get("usage"):
            self._tokens = event["usage"]["completion_tokens"]
        for choice in event["choices"]:
            delta = choice["delta"]
            self._reasoning += delta.get("reasoning") or ""
            self._content += delta.get("content") or ""
            self._finish = choice.get("finish_reason") or self._finish
            for call in delta.get("tool_calls") or ():
                name, arguments = self._calls.get(call["index"], ("", ""))
                function = call["function"]
                added = name + (function.get("name") or ""), arguments + (function.get("arguments") or "")
                self._calls[call["index"]] = added

    @property
    def said(self) -> Said:
        calls = tuple(ToolCall(name, arguments) for _, (name, arguments) in sorted(self._calls.items()))
        return Said(Answer(self._reasoning, self._content, calls, self._finish), self._tokens)
