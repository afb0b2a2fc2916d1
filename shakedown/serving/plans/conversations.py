"""Canonical conversations, asked in every way in which one prompt can be counted: tokenizer, chat, messages.

Each generates one token; only its counts matter.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from shakedown.engines.vllm import wire
from shakedown.serving.corpus import Plan
from shakedown.serving.exchange import Request
from shakedown.serving.plans.naming import named, streamed, way
from shakedown.serving.requests import chat, message, post
from shakedown.serving.setting import Setting
from shakedown.serving.tasks import generate

WEATHER = {
    "name": "get_weather",
    "description": "Get the current weather for a city.",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
}
CALL_ID = "call-1"


@dataclass(frozen=True)
class Conversation:
    """One conversation in the OpenAI shape.

    Attributes:
        messages: the turns.
        thinking: switched, or left to the server.
        tools: function tools on offer.
    """

    messages: Sequence[Mapping[str, Any]]
    thinking: bool | None = None
    tools: Sequence[Mapping[str, Any]] = ()

    def unsuited(self, setting: Setting) -> str | None:
        """Why a server as declared need not take it, None where it must."""
        if self.tools and not setting.tools:
            return "no tools: [serve].tool_call_parser is not declared in the deployment file"
        if any("reasoning" in turn for turn in self.messages) and not setting.reasoning:
            return "no reasoning: [serve].reasoning_parser is not declared in the deployment file"
        if self.thinking is not None and not setting.switch:
            return 'thinking cannot be switched: [serve].thinking_switch is "none" in the deployment file'
        return None


def _turns(*pairs: tuple[str, str]) -> list[dict[str, Any]]:
    return [{"role": role, "content": text} for role, text in pairs]


_CALLED = [
    *_turns(("user", "What is the weather in Paris?")),
    {
        "role": "assistant",
        "content": "",
        "tool_calls": [
            {
                "id": CALL_ID,
                "type": "function",
                "function": {"name": WEATHER["name"], "arguments": '{"city": "Paris"}'},
            }
        ],
    },
    {"role": "tool", "tool_call_id": CALL_ID, "content": '{"temperature": 17}'},
]
_TOOL = {"type": "function", "function": WEATHER}

CONVERSATIONS: dict[str, Conversation] = {
    "plain": Conversation(_turns(("user", "What is 17 + 25?"))),
    "system": Conversation(_turns(("system", "Be concise."), ("user", "What is 17 + 25?"))),
    "thinking-off": Conversation(_turns(("user", "What is 17 + 25?")), thinking=False),
    "turns": Conversation(_turns(("user", "My name is Anna."), ("assistant", "OK."), ("user", "What is my name?"))),
    "reasoning-history": Conversation(
        [
            {"role": "user", "content": "What is 17 + 25?"},
            {"role": "assistant", "reasoning": "7+5=12, 1+2+1=4.", "content": "42"},
            {"role": "user", "content": "What is 42 + 1?"},
        ]
    ),
    "scripts": Conversation(_turns(("user", "Repeat: naïve 東京 🚀 مرحبا"))),
    "tools": Conversation(_turns(("user", "What is the weather in Paris?")), tools=[_TOOL]),
    "tool-result": Conversation(_CALLED, tools=[_TOOL]),
}


def conversations(setting: Setting) -> Plan:
    """Each conversation that suits the server, to the tokenizer and, for one token, to the model."""
    requests: dict[str, Request] = {}
    for name, talk in CONVERSATIONS.items():
        if talk.unsuited(setting):
            continue
        body: dict[str, Any] = {"model": setting.model, "messages": list(talk.messages)}
        if talk.tools:
            body["tools"] = list(talk.tools)
        if talk.thinking is not None:
            body["chat_template_kwargs"] = {setting.switch: talk.thinking}
        requests[f"{name}-tokenize"] = post(wire.TOKENIZE, body)
        requests[f"{name}-chat"] = _one_token(setting, talk)
    return named("conversations", requests)


MESSAGES: dict[str, dict[str, Any]] = {
    "plain": {"messages": CONVERSATIONS["plain"].messages},
    "system": {
        "system": [{"type": "text", "text": "Be concise."}],
        "messages": [{"role": "user", "content": [{"type": "text", "text": "What is 17 + 25?"}]}],
    },
    "tools": {"messages": CONVERSATIONS["tools"].messages},
    "tool-result": {
        "messages": [
            *_turns(("user", "What is the weather in Paris?")),
            {
                "role": "assistant",
                "content": [{"type": "tool_use", "id": CALL_ID, "name": WEATHER["name"], "input": {"city": "Paris"}}],
            },
            {
                "role": "user",
                "content": [{"type": "tool_result", "tool_use_id": CALL_ID, "content": '{"temperature": 17}'}],
            },
        ]
    },
}
"""Four of the conversations as a client of the Anthropic API writes them."""


def counted_messages(setting: Setting) -> Plan:
    """Each that suits the server, to count_tokens, to the messages API and, translated, to the chat API."""
    requests: dict[str, Request] = {}
    for name, body in MESSAGES.items():
        if CONVERSATIONS[name].unsuited(setting):
            continue
        if CONVERSATIONS[name].tools:
            tool = {key: WEATHER[key] for key in ("name", "description")} | {"input_schema": WEATHER["parameters"]}
            body = {**body, "tools": [tool]}
        requests[f"{name}-count"] = post(wire.COUNT_TOKENS, {"model": setting.model, **body})
        requests[f"{name}-message"] = message(setting.model, max_tokens=1, **body)
        requests[f"{name}-chat"] = _one_token(setting, CONVERSATIONS[name])
    return named("counted_messages", requests)


def messages(setting: Setting) -> Plan:
    """Items that need a little thinking, twice whole and twice streamed."""
    return named(
        "messages",
        {
            f"{item.id}-{way(streamed(item.index))}": message(
                setting.model, item.messages, max_tokens=setting.thinking_room, stream=streamed(item.index)
            )
            for item in generate("exact-word", seed=setting.seed + 5, n=4)
        },
    )


def _one_token(setting: Setting, talk: Conversation) -> Request:
    return chat(setting, talk.messages, max_tokens=1, thinking=talk.thinking, tools=talk.tools)
