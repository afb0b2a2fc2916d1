"""The served model as far as it can be had without weights: its tokenizer and its chat template."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from http import HTTPStatus
from pathlib import Path
from typing import Any, NoReturn

from jinja2 import TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment
from tokenizers import Tokenizer
from tokenizers.decoders import DecodeStream

from shakedown.simulator.errors import ApiError


class Model:
    """Tokenizer and template of a model folder; every count that the simulator reports comes from here.

    Attributes:
        end_of_turn: id of the token that ends an answer.
        longest_token: characters of the longest token, as the vocabulary spells it.
        think_start, think_end, tool_start, tool_end: ids of the mark-up tokens.
    """

    def __init__(self, folder: Path) -> None:
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._template = _environment().from_string((folder / "chat_template.jinja").read_text(encoding="utf-8"))
        config = json.loads((folder / "tokenizer_config.json").read_text(encoding="utf-8"))
        self.end_of_turn = self.id_of(config["eos_token"])
        self.think_start, self.think_end = self.id_of("<think>"), self.id_of("</think>")
        self.tool_start, self.tool_end = self.id_of("<tool_call>"), self.id_of("</tool_call>")
        self.special = frozenset(self._tokenizer.get_added_tokens_decoder())
        self.vocabulary_size = self._tokenizer.get_vocab_size()
        self.longest_token = max(map(len, self._tokenizer.get_vocab()))

    def id_of(self, token: str) -> int:
        """The id of a token.

        Raises:
            ValueError: the vocabulary does not hold it.
        """
        found = self._tokenizer.token_to_id(token)
        if found is None:
            raise ValueError(f"the tokenizer has no token {token!r}")
        return int(found)

    def token(self, id: int) -> str:
        """The token as the vocabulary spells it."""
        return str(self._tokenizer.id_to_token(id))

    def encode(self, text: str) -> list[int]:
        """Token ids; mark-up in the text becomes the mark-up tokens."""
        return list(self._tokenizer.encode(text, add_special_tokens=False).ids)

    def decode(self, ids: Sequence[int]) -> str:
        """The text of ids, mark-up included."""
        return str(self._tokenizer.decode(list(ids), skip_special_tokens=False))

    def pieces(self, ids: Sequence[int]) -> list[str]:
        """The text that each token adds: empty until the last token of a character that spans several."""
        stream = DecodeStream(skip_special_tokens=False)
        pieces = [stream.step(self._tokenizer, id) or "" for id in ids]
        missing = self.decode(ids)[sum(map(len, pieces)) :]
        if missing and pieces:  # cut off within a character: what an engine shows is the replacement character
            pieces[-1] += missing
        return pieces

    def render(
        self, messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]] | None, **arguments: Any
    ) -> str:
        """The prompt.

        Raises:
            ApiError: 400, the template refuses the conversation.
        """
        conversation = [_normalised(message) for message in messages]
        try:
            return self._template.render(messages=conversation, tools=tools or None, **arguments)
        except TemplateError as error:
            raise ApiError(HTTPStatus.BAD_REQUEST, str(error)) from error


def _environment() -> ImmutableSandboxedEnvironment:
    """As transformers sets one up: its ``tojson`` escapes nothing for HTML."""
    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"]
    )
    environment.filters["tojson"] = _to_json
    environment.globals["raise_exception"] = _raise_exception
    environment.globals["strftime_now"] = lambda form: datetime.now().astimezone().strftime(form)
    return environment


def _to_json(value: Any, indent: int | None = None) -> str:
    return json.dumps(value, ensure_ascii=False, indent=indent)


def _raise_exception(message: str) -> NoReturn:
    raise TemplateError(message)


def _normalised(message: Mapping[str, Any]) -> dict[str, Any]:
    """As vLLM hands a message to a template: text parts joined, reasoning under both names, arguments as an object."""
    role = message.get("role")
    result: dict[str, Any] = {"role": role, "content": _text(message.get("content"))}
    if role == "tool" and "tool_call_id" in message:
        result["tool_call_id"] = message["tool_call_id"]
    if role == "assistant":
        if message.get("tool_calls"):
            result["tool_calls"] = [_tool_call(call) for call in message["tool_calls"]]
        reasoning = message.get("reasoning", message.get("reasoning_content"))
        if reasoning is not None:
            result["reasoning"] = result["reasoning_content"] = reasoning
    return result


def _text(content: Any) -> str:
    if isinstance(content, str) or content is None:
        return content or ""
    if not isinstance(content, list) or not all(isinstance(part, dict) for part in content):
        raise ApiError(HTTPStatus.BAD_REQUEST, "content must be a string or a list of parts", param="messages")
    unsupported = [str(part.get("type")) for part in content if part.get("type") not in ("text", "input_text")]
    if unsupported:
        message = f"the model does not take parts of type {unsupported[0]}"
        raise ApiError(HTTPStatus.BAD_REQUEST, message, param="messages")
    return "\n".join(str(part.get("text", "")) for part in content)


def _tool_call(call: Any) -> dict[str, Any]:
    function = call.get("function") if isinstance(call, dict) else None
    if not isinstance(function, dict):
        raise ApiError(HTTPStatus.BAD_REQUEST, "assistant tool_calls entries must be functions.", param="tool_calls")
    arguments = function.get("arguments") or {}
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except json.JSONDecodeError:
            arguments = {}
    return {**call, "function": {**function, "arguments": arguments if isinstance(arguments, dict) else {}}}
