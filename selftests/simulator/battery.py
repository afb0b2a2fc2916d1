"""A battery of requests, and everything that one simulator says to it, comparable from server to server."""

from __future__ import annotations

import asyncio
import re
import time
from typing import Any

import httpx

from selftests.simulator.talk import (
    CHAT,
    MESSAGES,
    MODEL,
    OFF,
    SUM,
    UNKNOWN,
    events_of,
    inside,
    item_body,
    metric,
    tool_item,
)
from shakedown.serving.tasks import generate
from shakedown.simulator.settings import Timing

USAGE = {"stream": True, "stream_options": {"include_usage": True}}
SCHEMA = {"type": "json_schema", "json_schema": {"name": "n", "schema": {"type": "object"}}}
ANTHROPIC = {"model": MODEL, "max_tokens": 300}
LONG = {"messages": [{"role": "user", "content": "x " * 4000}]}
SPARED = {"messages": [{"role": "user", "content": "Reply with exactly the word Lemon."}]}
EXTRACTION = item_body(next(i for i in generate("extraction", seed=1, n=20) if not re.search(r"\d", str(i.key))))
COMPUTED = [item_body(item) for item in generate("counting", seed=7, n=20)]
NONCES = ("412859370164", "935027718463")
TOOL = item_body(tool_item())
TEXT = "naïve 東京 🚀"

REQUESTS: dict[str, tuple[str, dict[str, Any]]] = {
    "tokenize": ("/tokenize", SPARED),
    "tokenize off": ("/tokenize", {**SPARED, **OFF}),
    "thinking": (CHAT, SPARED),
    "thinking stream": (CHAT, {**SPARED, **USAGE}),
    "plain": (CHAT, {**SPARED, **OFF}),
    "plain stream": (CHAT, {**SPARED, **OFF, **USAGE}),
    "cut off": (CHAT, {**SPARED, "max_tokens": 4}),
    "cut off stream": (CHAT, {**SPARED, **USAGE, "max_tokens": 4}),
    "tool": (CHAT, {**TOOL, **OFF}),
    "tool stream": (CHAT, {**TOOL, **OFF, **USAGE}),
    "tool thinking stream": (CHAT, {**TOOL, **USAGE}),
    "tool required": (CHAT, {**TOOL, "tool_choice": "required"}),
    "schema": (CHAT, {**EXTRACTION, **OFF, "response_format": SCHEMA}),
    "schema thinking": (CHAT, {**EXTRACTION, "response_format": SCHEMA}),
    "schema against prompt": (CHAT, {**UNKNOWN, **OFF, "response_format": SCHEMA}),
    "logprobs": (CHAT, {**SPARED, **OFF, "logprobs": True}),
    "logprobs stream": (CHAT, {**SPARED, **OFF, "logprobs": True, "stream": True}),
    "completion": ("/v1/completions", {"prompt": "Reply with exactly the word Lemon."}),
    "message": (MESSAGES, {**ANTHROPIC, **SPARED}),
    "message stream": (MESSAGES, {**ANTHROPIC, **SPARED, "stream": True}),
    "count": (MESSAGES + "/count_tokens", {"model": MODEL, **SPARED}),
}


async def observe(fault: str | None) -> dict[str, Any]:
    """What one server says to the battery, in the same order every time."""
    seen: dict[str, Any] = {}
    async with inside(fault) as client:
        for name, (path, body) in REQUESTS.items():
            response = await client.post(path, json=body)
            seen[name] = response.status_code, _without_chance(response.text)
        seen["models"] = _without_chance((await client.get("/v1/models")).text)
        seen["routes"] = sorted((await client.get("/openapi.json")).json()["paths"])
        ids = (await client.post("/tokenize", json={"prompt": TEXT})).json()["tokens"]
        seen["detokenize"] = (await client.post("/detokenize", json={"tokens": ids})).json()
        seen["computed"] = [_without_chance((await client.post(CHAT, json=body)).text) for body in COMPUTED]
        seen["metrics"] = await _counted(client)
        seen["ids of a stream"] = len(await _ids(client, {**SPARED, "stream": True}, "chatcmpl-"))
        seen["ids of calls"] = len(await _ids(client, TOOL, "chatcmpl-tool-|call_"))
        response = await client.post(CHAT, json=LONG)
        seen["oversize"] = response.status_code, response.json()["error"]
        after = await client.post(CHAT, json={**UNKNOWN, **OFF, "max_tokens": 1})
        seen["after oversize"] = after.status_code, (await client.get("/health")).status_code
    seen |= await _crowd(fault)
    return seen


async def _counted(client: httpx.AsyncClient) -> list[float]:
    """By how much the token counters grow with one request."""
    names = ("vllm:prompt_tokens_total", "vllm:generation_tokens_total")
    before = (await client.get("/metrics")).text
    await client.post(CHAT, json=SPARED)
    after = (await client.get("/metrics")).text
    return [metric(after, name) - metric(before, name) for name in names]


async def _crowd(fault: str | None) -> dict[str, Any]:
    """What happens when several are served at once: mixed up answers, errors, stand-stills."""
    async with inside(fault, timing=Timing(0.05, 0.0005)) as client:
        bodies = [{"messages": [{"role": "user", "content": f"Repeat this nonce: {nonce}"}]} for nonce in NONCES]
        answers = await asyncio.gather(*(client.post(CHAT, json={**body, **OFF}) for body in bodies))
        own = [nonce in answer.text for nonce, answer in zip(NONCES, answers, strict=True)]
        start = time.perf_counter()
        streams = await asyncio.gather(
            *(client.post(CHAT, json={**SUM, "stream": True, "max_tokens": 8}) for _ in range(4))
        )
        elapsed = time.perf_counter() - start
        events = [event for stream in streams for event in events_of(stream.text)]
    return {
        "crowd nonces": own,
        "crowd errors": sum(isinstance(event, dict) and "error" in event for event in events),
        "crowd stands still": elapsed >= 0.5,
    }


async def _ids(client: httpx.AsyncClient, body: dict[str, Any], prefix: str) -> set[str]:
    """All ids with that prefix in two answers to the same request."""
    texts = [(await client.post(CHAT, json=body)).text for _ in range(2)]
    return {found for text in texts for found in re.findall(rf'"id":"((?:{prefix})[^"]*)"', text)}


def _without_chance(text: str) -> str:
    """The text without what differs from request to request."""
    text = re.sub(r'"id":"(?:chatcmpl|cmpl|call)[^"\n]*"', '"id":"*"', text)
    text = re.sub(r'"signature":"[^"\n]*"', '"signature":"*"', text)
    return re.sub(r'"created":\d+', '"created":0', text)
