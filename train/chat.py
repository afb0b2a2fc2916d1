"""Conversations as the model sees them: the prompt by the chat template, the completion as it must be generated."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jinja2

from shakedown.serving.tasks import Answer
from shakedown.serving.tasks.item import Message, Tool
from train.markers import CALL, CALL_END, END, THINK_END

TEMPLATE = Path(__file__).with_name("chat_template.jinja")


class Renderer:
    """The chat template, compiled once.

    It runs without the sandbox that serving code puts around foreign templates, for speed; the white-space options and
    ``tojson`` are those of ``transformers``, so that the text is the same.
    """

    def __init__(self, template: Path = TEMPLATE) -> None:
        environment = jinja2.Environment(trim_blocks=True, lstrip_blocks=True, autoescape=False)  # noqa: S701 - no HTML
        environment.filters["tojson"] = _to_json
        self._template = environment.from_string(template.read_text(encoding="utf-8"))

    def prompt(self, messages: Sequence[Message], tools: Sequence[Tool] | None, *, thinking: bool) -> str:
        """The text up to where generation starts."""
        return self._template.render(
            messages=messages, tools=tools, add_generation_prompt=True, enable_thinking=thinking
        )


def completion(answer: Answer, *, thinking: bool) -> str:
    """The text that has to be generated for an answer, from the end of the prompt to the end of the turn.

    The prompt has opened the thinking block, and with thinking off closed it, so only the rest of it stands here.
    """
    calls = [
        f'{CALL}\n{{"name": {_to_json(c.name)}, "arguments": {c.arguments}}}\n{CALL_END}' for c in answer.tool_calls
    ]
    said = "\n".join([answer.content, *calls] if answer.content else calls)
    thought = f"{answer.thinking}\n{THINK_END}\n\n" if thinking else ""
    return f"{thought}{said}{END}"


def _to_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
