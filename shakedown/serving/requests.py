"""Builders of requests: everything that matters is said explicitly, so that no server default decides an outcome."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from shakedown.engines.vllm import wire
from shakedown.serving.exchange import Request
from shakedown.serving.setting import Setting
from shakedown.serving.tasks import Item

FIRST_TOKEN_S = 60.0
"""Until the first token of one answer among eight: queue and prefill on a deployment that has just come up."""

SLOWEST_TOKENS_PER_S = 5.0
"""Of one stream among eight: half of what a large model on two small machines gives; slower than that is broken."""

ZERO_TOKEN_DEADLINE_S = 15.0
"""For a request that generates nothing."""

GREEDY = {"temperature": 0.0}
THINKING = {"temperature": 0.6, "top_p": 0.95}
"""Sampling while thinking as the model cards of reasoning models ask for: greedy thinking may go round in circles."""


def get(path: str) -> Request:
    """A GET of a route that generates nothing."""
    return Request("GET", path, deadline_s=ZERO_TOKEN_DEADLINE_S)


def post(path: str, body: Mapping[str, Any]) -> Request:
    """A POST to a route that generates nothing."""
    return Request("POST", path, body, deadline_s=ZERO_TOKEN_DEADLINE_S)


def chat(
    setting: Setting,
    messages: Sequence[Mapping[str, Any]],
    *,
    max_tokens: int,
    thinking: bool | None = None,
    stream: bool = False,
    tools: Sequence[Mapping[str, Any]] | None = None,
    about: Mapping[str, Any] | None = None,
    **fields: Any,
) -> Request:
    """A chat completion.

    Args:
        setting: the server.
        messages: the conversation.
        max_tokens: limit of generated tokens, thinking included.
        thinking: switched on or off through the chat template, where it has a switch; None leaves it to the server.
        stream: as events, with a usage chunk at the end.
        tools: function tools on offer.
        about: what judges must know and the body does not say.
        fields: any further field of the body, as it stands.
    """
    about = dict(about or {})
    body: dict[str, Any] = {"model": setting.model, "messages": list(messages), "max_tokens": max_tokens}
    body |= THINKING if thinking or (thinking is False and setting.always_thinks) else GREEDY
    if thinking is not None:
        if setting.switch:
            body["chat_template_kwargs"] = {setting.switch: thinking}
        else:
            about["thinking"] = setting.always_thinks
    if stream:
        body |= {"stream": True, "stream_options": {"include_usage": True}}
    if tools:
        body["tools"] = list(tools)
    return Request("POST", wire.CHAT, body | fields, deadline_s=deadline_s(max_tokens), about=about)


def deadline_s(max_tokens: int) -> float:
    """How long a generation of so many tokens may take, s."""
    return FIRST_TOKEN_S + max_tokens / SLOWEST_TOKENS_PER_S


def ask(setting: Setting, item: Item, *, thinking: bool, stream: bool, **fields: Any) -> Request:
    """A generated item as a chat completion; ``about`` says which, so that it can be made and graded again.

    ``fields`` go into the body as they stand, over what the item itself brings.
    """
    fields = {"tools": item.tools, **fields}
    return chat(
        setting,
        item.messages,
        max_tokens=setting.thinking_room if thinking else setting.room(item.max_tokens.plain),
        thinking=thinking,
        stream=stream,
        about={"family": item.family, "seed": item.seed, "index": item.index},
        **fields,
    )


def message(
    model: str, messages: Sequence[Mapping[str, Any]], *, max_tokens: int, stream: bool = False, **fields: Any
) -> Request:
    """A message of the Anthropic API; thinking is left to the server, as its clients leave it."""
    body: dict[str, Any] = {"model": model, "messages": list(messages), "max_tokens": max_tokens, **GREEDY}
    if stream:
        body["stream"] = True
    return Request("POST", wire.MESSAGES, body | fields, deadline_s=deadline_s(max_tokens))
