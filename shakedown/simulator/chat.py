"""``/v1/chat/completions``: from the body to a job for the engine, and from its tokens to bodies and chunks."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import Any

from pydantic import ValidationError

from shakedown.simulator.author import spelled_out, write
from shakedown.simulator.errors import ApiError, invalid_request
from shakedown.simulator.job import Job
from shakedown.simulator.logprobs import chat_logprobs
from shakedown.simulator.output import Output, decide
from shakedown.simulator.parsing import Delta, NoReasoningParser, OutputParser, Parsed, parse_whole
from shakedown.simulator.paths import DONE
from shakedown.simulator.requests import ChatRequest
from shakedown.simulator.server import FINGERPRINT, Server, new_id

_USAGE = ("prompt_tokens", "total_tokens", "completion_tokens", "prompt_tokens_details", "completion_tokens_details")


@dataclass(slots=True)
class Chat:
    """A chat request on its way."""

    request: ChatRequest
    job: Job
    id: str
    created: int
    model: str
    parser: type[OutputParser]


def parse(body: dict[str, Any]) -> ChatRequest:
    """The body as a request.

    Raises:
        ApiError: 400, it does not validate.
    """
    try:
        return ChatRequest.model_validate(body)
    except ValidationError as error:
        raise invalid_request(error) from error


def prompt_of(server: Server, request: ChatRequest) -> str:
    """The prompt of a request.

    Raises:
        ApiError: 400 or 404.
    """
    server.check_model(request.model)
    if request.chat_template is not None:
        message = "Chat template is passed with request, but --trust-request-chat-template is not set."
        raise ApiError(HTTPStatus.BAD_REQUEST, f"{message} Refused request with untrusted chat template.")
    return server.render(request.messages, request.rendered_tools, request.template_arguments)


async def start(server: Server, request: ChatRequest, arrived: float) -> Chat:
    """Everything about an answer except the passing of time.

    Raises:
        ApiError: the request is refused, or the engine cannot take it.
    """
    prompt = prompt_of(server, request)
    prompt_ids = server.encode(prompt)
    name = "max_tokens" if request.max_completion_tokens is None else "max_completion_tokens"
    limits = request.limits(server.room(len(prompt_ids), request.asked_tokens, name))
    written = write(request, server.fault)
    thinking = not prompt.rstrip().endswith("</think>")
    reasoning, content = spelled_out(written.answer)
    if thinking:
        opening, gap = _opening(prompt), "" if written.held else "\n\n"
        content = f"{opening}{_budgeted(server, request, reasoning)}</think>{gap}{content}"
    output = decide(server.model, content, limits)
    outputs = [replace(output) for _ in range(request.choices)]
    job = Job(prompt_ids, outputs, arrived, written.family, thinking)
    await server.engine.admit(job)
    default = OutputParser if server.settings.reasoning_parser else NoReasoningParser
    parser = server.fault.parser(default, streamed=bool(request.stream))
    return Chat(request, job, f"chatcmpl-{new_id()}", int(time.time()), server.settings.served_name, parser)


def _opening(prompt: str) -> str:
    """What the model writes before its reasoning: the template may have opened the block, line break included."""
    if not prompt.rstrip().endswith("<think>"):
        return "<think>\n"
    return "" if prompt.endswith("\n") else "\n"


def _budgeted(server: Server, request: ChatRequest, reasoning: str) -> str:
    """The reasoning up to its closing tag, as far as the budget lets it come."""
    whole, budget = f"{reasoning}\n", request.thinking_token_budget
    if budget is None or budget < 0:
        return whole
    return server.model.decode(server.model.encode(whole)[:budget])


async def body(server: Server, chat: Chat) -> dict[str, Any]:
    """The answer in one piece.

    Raises:
        ApiError: generation failed.
    """
    await server.engine.finish(chat.job)
    parsed = [parse_whole(_parser(server, chat), output.ids, output.pieces) for output in chat.job.outputs]
    choices = [
        _choice(server, chat, index, output, result)
        for index, (output, result) in enumerate(zip(chat.job.outputs, parsed, strict=True))
    ]
    usage = _usage(server, chat, sum(len(o.ids) for o in chat.job.outputs), sum(p.reasoning_tokens for p in parsed))
    return {
        "id": chat.id,
        "object": "chat.completion",
        "created": chat.created,
        "model": chat.model,
        "choices": choices,
        "service_tier": None,
        "system_fingerprint": FINGERPRINT,
        "usage": {name: usage.get(name) for name in _USAGE},
        "prompt_logprobs": None,
        "prompt_token_ids": list(chat.job.prompt_ids) if chat.request.return_token_ids else None,
        "prompt_text": None,
        "kv_transfer_params": None,
        "ec_transfer_params": None,
        "metrics": None,
    }


def _choice(server: Server, chat: Chat, index: int, output: Output, parsed: Parsed) -> dict[str, Any]:
    request = chat.request
    calls = [call for call in parsed.calls if _complete(call.arguments)]
    forced = request.named_tool is not None or request.tool_choice == "required"
    content = "" if forced else (parsed.content or None)
    if calls and not forced:
        content = parsed.content if parsed.content.strip() else None
    message: dict[str, Any] = {
        "role": "assistant",
        "content": content,
        "refusal": None,
        "annotations": None,
        "audio": None,
        "function_call": None,
    }
    if calls:
        message["tool_calls"] = [
            {**_call_head(), "function": {"name": c.name, "arguments": c.arguments}} for c in calls
        ]
    message["reasoning"] = (parsed.reasoning or None) if request.include_reasoning else None
    return {
        "index": index,
        "message": message,
        "logprobs": _logprobs(server, chat, output.ids, 0),
        "finish_reason": _finish_reason(request, output, called=bool(calls)),
        "stop_reason": output.stop_reason,
        "token_ids": list(output.ids) if request.return_token_ids and request.include_reasoning else None,
        "routed_experts": None,
    }


async def events(server: Server, chat: Chat) -> AsyncGenerator[dict[str, Any] | bytes, None]:
    """The answer in chunks, then `DONE`; a failure of the engine is one of them."""
    stream = _Stream(server, chat)
    for chunk in stream.opening():
        yield chunk
    try:
        async with aclosing(server.engine.steps(chat.job)) as steps:
            async for positions in steps:
                for chunk in stream.step(positions):
                    yield chunk
        if chat.request.usage_at_end:
            yield stream.usage()
    except ApiError as error:
        yield error.body
    yield DONE


class _Stream:
    """The chunks of one streamed answer."""

    def __init__(self, server: Server, chat: Chat) -> None:
        self._server = server
        self._chat = chat
        self._parsers = [_parser(server, chat) for _ in chat.job.outputs]
        self._called = [False] * len(chat.job.outputs)
        self._generated = [0] * len(chat.job.outputs)

    def opening(self) -> list[dict[str, Any]]:
        """The role of every choice, sent at once; it carries no token."""
        request, chunks = self._chat.request, []
        for index in range(len(self._chat.job.outputs)):
            delta = {"role": "assistant", "content": ""}
            chunk = self._chunk([{"index": index, "delta": delta, "logprobs": None, "finish_reason": None}])
            if request.usage_in_chunks:
                chunk["usage"] = _usage(self._server, self._chat, 0, 0)
            chunk["prompt_token_ids"] = list(self._chat.job.prompt_ids) if request.return_token_ids else None
            chunk["prompt_text"] = None
            chunks.append(chunk)
        return chunks

    def step(self, positions: range) -> list[dict[str, Any]]:
        """One chunk for every choice that these tokens add something to."""
        chunks = (self._step(index, output, positions) for index, output in enumerate(self._chat.job.outputs))
        return [chunk for chunk in chunks if chunk is not None]

    def _step(self, index: int, output: Output, positions: range) -> dict[str, Any] | None:
        ids = output.ids[positions.start : positions.stop]
        if not ids:
            return None
        request = self._chat.request
        added = self._parsers[index].feed(ids, output.pieces[positions.start : positions.stop])
        self._called[index] |= bool(added.calls)
        self._generated[index] += len(ids)
        last = positions.stop >= len(output.ids)
        delta = _wire_delta(added, include_reasoning=request.include_reasoning)
        logprobs = _logprobs(self._server, self._chat, ids, positions.start)
        show_ids = bool(request.return_token_ids) and request.include_reasoning
        if not (delta or last or logprobs or show_ids):
            return None
        choice = {"index": index, "delta": delta, "logprobs": logprobs, "finish_reason": None}
        if last:
            choice["finish_reason"] = _finish_reason(request, output, called=self._called[index])
            choice["stop_reason"] = output.stop_reason
        choice["token_ids"] = list(ids) if show_ids else None
        chunk = self._chunk([choice])
        if request.usage_in_chunks:
            reasoned = self._parsers[index].reasoning_tokens
            chunk["usage"] = _usage(self._server, self._chat, self._generated[index], reasoned)
        elif last and not request.usage_at_end:
            chunk["system_fingerprint"] = FINGERPRINT
        return chunk

    def usage(self) -> dict[str, Any]:
        """The chunk after the last token."""
        reasoned = sum(parser.reasoning_tokens for parser in self._parsers)
        usage = _usage(self._server, self._chat, sum(self._generated), reasoned)
        return {**self._chunk([]), "usage": usage, "system_fingerprint": FINGERPRINT}

    def _chunk(self, choices: list[dict[str, Any]]) -> dict[str, Any]:
        chat = self._chat
        return {
            "id": chat.id,
            "object": "chat.completion.chunk",
            "created": chat.created,
            "model": chat.model,
            "choices": choices,
        }


def _wire_delta(added: Delta, *, include_reasoning: bool) -> dict[str, Any]:
    delta: dict[str, Any] = {}
    if added.content or added.calls:
        delta["content"] = added.content or None
    if added.reasoning and include_reasoning:
        delta["reasoning"] = added.reasoning
    calls = []
    for call in added.calls:
        if call.name:
            calls.append({**_call_head(), "index": call.index, "function": {"name": call.name}})
        if call.arguments:
            calls.append({"index": call.index, "function": {"arguments": call.arguments}})
    if calls:
        delta["tool_calls"] = calls
    return delta


def _call_head() -> dict[str, Any]:
    return {"id": f"chatcmpl-tool-{new_id()}", "type": "function"}


def _parser(server: Server, chat: Chat) -> OutputParser:
    tools = bool(chat.request.tools) and chat.request.tool_choice != "none"
    return chat.parser(server.model, thinking=chat.job.thinking, tools=tools)


def _usage(server: Server, chat: Chat, generated: int, reasoned: int) -> dict[str, Any]:
    prompt = len(chat.job.prompt_ids)
    usage: dict[str, Any] = {"prompt_tokens": prompt, "total_tokens": prompt + generated}
    usage["completion_tokens"] = generated
    if server.settings.reasoning_parser:
        usage["completion_tokens_details"] = {"reasoning_tokens": reasoned}
    return usage


def _logprobs(server: Server, chat: Chat, ids: Sequence[int], start: int) -> dict[str, Any] | None:
    request = chat.request
    if not request.logprobs or not request.include_reasoning:
        return None
    top = max(0, request.top_logprobs)
    return chat_logprobs(server.model, ids, start, top, as_ids=bool(request.return_tokens_as_token_ids))


def _finish_reason(request: ChatRequest, output: Output, *, called: bool) -> str:
    """A call that was asked for by name ends with ``stop``, one that the model chose with ``tool_calls``."""
    if called and output.finish_reason == "stop" and request.named_tool is None:
        return "tool_calls"
    return output.finish_reason


def _complete(arguments: str) -> bool:
    try:
        json.loads(arguments)
    except json.JSONDecodeError:
        return False
    return True
