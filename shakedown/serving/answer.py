"""A chat completion as a client sees it, the same whether it came whole or streamed.

Nothing is repaired and nothing raises: what has the wrong shape is absent here, and it is for the judges of framing
and schema to say so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from shakedown.engines.vllm.wire import CHAT, REASONING_FIELDS
from shakedown.serving.exchange import Exchange
from shakedown.serving.sse import DONE, Stream, read_stream

THINKING_SWITCHES = ("enable_thinking", "thinking")
"""Arguments of chat templates that turn thinking on and off."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call as it arrived; ``arguments`` is the text, parsed by nobody yet."""

    index: int
    id: str
    name: str
    arguments: str


@dataclass(frozen=True)
class Answer:
    """One answer of ``/v1/chat/completions`` with a single choice."""

    exchange: Exchange

    @property
    def name(self) -> str:
        """Name of its request in the plan."""
        return self.exchange.name

    @property
    def is_chat(self) -> bool:
        """Whether the exchange is a chat completion at all."""
        return self.exchange.request.path == CHAT

    @property
    def streamed(self) -> bool:
        """Whether it came as events."""
        return self.exchange.request.streamed

    @property
    def thinking(self) -> bool:
        """Whether the request leaves thinking on, which is the default of a reasoning model."""
        request = self.exchange.request
        if "thinking" in request.about:
            return bool(request.about["thinking"])
        switches = as_dict((request.body or {}).get("chat_template_kwargs"))
        return not any(switches.get(name) is False for name in THINKING_SWITCHES)

    @cached_property
    def stream(self) -> Stream:
        """The events of a streamed answer."""
        return read_stream(self.exchange.arrivals)

    @cached_property
    def chunks(self) -> tuple[Mapping[str, Any], ...]:
        """The JSON objects of the stream; for an answer that came whole its body alone."""
        if not self.streamed:
            return (as_dict(self.exchange.json),)
        return tuple(as_dict(event.json) for event in self.stream.events if event.data != DONE)

    @cached_property
    def parts(self) -> tuple[Mapping[str, Any], ...]:
        """What the choice said, piece by piece: deltas, or the one message."""
        key = "delta" if self.streamed else "message"
        return tuple(as_dict(choice.get(key)) for choice in self.choices)

    @cached_property
    def choices(self) -> tuple[Mapping[str, Any], ...]:
        """Every choice object of every chunk, in order."""
        return tuple(as_dict(choice) for chunk in self.chunks for choice in as_list(chunk.get("choices")))

    @cached_property
    def reasoning(self) -> str:
        """The thinking text, joined; empty where there is none."""
        return "".join(reasoning_of(part) for part in self.parts)

    @cached_property
    def content(self) -> str:
        """The answer text, joined; empty where it is null or absent."""
        return "".join(as_str(part.get("content")) for part in self.parts)

    @cached_property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """The calls, joined by index."""
        pieces: dict[int, list[Mapping[str, Any]]] = {}
        for part in self.parts:
            for position, piece in enumerate(as_list(part.get("tool_calls"))):
                piece = as_dict(piece)
                index = piece.get("index") if self.streamed else position
                pieces.setdefault(index if isinstance(index, int) else -1, []).append(piece)
        return tuple(_joined(index, found) for index, found in sorted(pieces.items()))

    @cached_property
    def finish_reasons(self) -> tuple[str, ...]:
        """Every finish reason that is not null."""
        reasons = (choice.get("finish_reason") for choice in self.choices)
        return tuple(reason for reason in reasons if isinstance(reason, str))

    @property
    def finish(self) -> str | None:
        """The finish reason, None where there is none or more than one."""
        return self.finish_reasons[0] if len(self.finish_reasons) == 1 else None

    @cached_property
    def usage(self) -> Mapping[str, Any]:
        """The last usage object; empty where there is none."""
        found = [as_dict(chunk.get("usage")) for chunk in self.chunks if chunk.get("usage")]
        return found[-1] if found else {}

    @property
    def prompt_tokens(self) -> int | None:
        """Tokens of the prompt as the server counted them."""
        return as_int(self.usage.get("prompt_tokens"))

    @property
    def completion_tokens(self) -> int | None:
        """Generated tokens as the server counted them, thinking included."""
        return as_int(self.usage.get("completion_tokens"))

    @property
    def logprobs_asked(self) -> bool:
        """Whether the request wants log probabilities."""
        return bool((self.exchange.request.body or {}).get("logprobs"))

    def logprobs(self) -> Iterator[Mapping[str, Any]]:
        """Every entry of every logprobs list."""
        for choice in self.choices:
            for entry in as_list(as_dict(choice.get("logprobs")).get("content")):
                yield as_dict(entry)

    @property
    def texts(self) -> dict[str, str]:
        """The fields that hold generated text, by name, empty ones left out."""
        fields = {"reasoning": self.reasoning, "content": self.content}
        fields |= {f"tool_calls[{call.index}]": call.arguments for call in self.tool_calls}
        return {name: text for name, text in fields.items() if text}


def answers(exchanges: Iterable[Exchange]) -> tuple[Answer, ...]:
    """The exchanges as chat completions."""
    return tuple(Answer(exchange) for exchange in exchanges)


def reasoning_of(part: Mapping[str, Any]) -> str:
    """The thinking text of a message or delta, under whichever name the server uses."""
    return next((text for field in REASONING_FIELDS if (text := as_str(part.get(field)))), "")


def as_dict(value: Any) -> Mapping[str, Any]:
    """The value if it is an object, else an empty one."""
    return value if isinstance(value, Mapping) else {}


def as_list(value: Any) -> Sequence[Any]:
    """The value if it is an array, else an empty one."""
    return value if isinstance(value, list) else []


def as_str(value: Any) -> str:
    """The value if it is a string, else an empty one."""
    return value if isinstance(value, str) else ""


def as_int(value: Any) -> int | None:
    """The value if it is a whole number (true and false are none), else None."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _joined(index: int, pieces: Sequence[Mapping[str, Any]]) -> ToolCall:
    functions = [as_dict(piece.get("function")) for piece in pieces]
    return ToolCall(
        index=index,
        id="".join(as_str(piece.get("id")) for piece in pieces),
        name="".join(as_str(function.get("name")) for function in functions),
        arguments="".join(as_str(function.get("arguments")) for function in functions),
    )
