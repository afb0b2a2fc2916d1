"""Talking to a simulator: over a socket, or straight into the application."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import httpx
from tokenizers import Tokenizer

from shakedown.serving.tasks import Item, generate
from shakedown.simulator.process import application
from shakedown.simulator.settings import MODEL_FOLDER, Settings, Timing

CHAT = "/v1/chat/completions"
MESSAGES = "/v1/messages"
MODEL = "shakedown-tiny"
AT_ONCE = Timing(ttft_s=0.0, itl_s=0.0)
OFF = {"chat_template_kwargs": {"enable_thinking": False}}

SUM = {"messages": [{"role": "user", "content": "What is 417 + 386?"}]}
UNKNOWN = {"messages": [{"role": "user", "content": "Tell me a story."}]}


def inside(fault: str | None = None, *, timing: Timing = AT_ONCE, **settings: Any) -> httpx.AsyncClient:
    """A client of an application in this process: no socket, streams arrive when they are complete."""
    app = application(Settings(fault=fault, timing=timing, **settings))
    return httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://simulator")  # type: ignore[arg-type]


async def posted(client: httpx.AsyncClient, path: str, *parts: Mapping[str, Any], **fields: Any) -> httpx.Response:
    """The response to a body made of parts."""
    body: dict[str, Any] = {}
    for part in (*parts, fields):
        body |= part
    return await client.post(path, json=body)


async def told(client: httpx.AsyncClient, path: str, *parts: Mapping[str, Any], **fields: Any) -> dict[str, Any]:
    """The body of a response that must be good."""
    response = await posted(client, path, *parts, **fields)
    assert response.status_code == 200, response.text
    body: dict[str, Any] = response.json()
    return body


async def streamed(client: httpx.AsyncClient, path: str, *parts: Mapping[str, Any], **fields: Any) -> list[Any]:
    """The events of a stream: objects, and ``[DONE]`` as text."""
    response = await posted(client, path, *parts, **fields, stream=True)
    assert response.status_code == 200, response.text
    assert response.headers["content-type"].startswith("text/event-stream")
    return events_of(response.text)


def events_of(text: str) -> list[Any]:
    """The data of every event, decoded where it is JSON."""
    data = [line.removeprefix("data: ") for line in text.splitlines() if line.startswith("data: ")]
    return [json.loads(line) if line.endswith("}") else line for line in data]


def joined(events: Iterable[Any], field: str, index: int = 0) -> str:
    """What the deltas of one choice say in one field."""
    deltas = [c["delta"] for e in events if isinstance(e, dict) for c in e["choices"] if c["index"] == index]
    return "".join(delta.get(field) or "" for delta in deltas)


def item_body(item: Item) -> dict[str, Any]:
    """An item as a chat body."""
    return {"messages": list(item.messages)} | ({"tools": list(item.tools)} if item.tools else {})


def tool_item() -> Item:
    """One item that needs a call."""
    return generate("tool-call", seed=1, n=1)[0]


def tokenizer(folder: Path = MODEL_FOLDER) -> Tokenizer:
    """The tokenizer of the model, loaded here and not by the simulator."""
    return Tokenizer.from_file(str(folder / "tokenizer.json"))


def count(text: str) -> int:
    """Tokens of a text."""
    return len(tokenizer().encode(text, add_special_tokens=False).ids)


def metric(exposition: str, name: str, labels: Sequence[str] = ()) -> float:
    """The sum of all samples of a metric that carry the given labels."""
    lines = [line for line in exposition.splitlines() if line.startswith(name + "{")]
    return sum(float(line.rsplit(" ", 1)[1]) for line in lines if all(label in line for label in labels))
