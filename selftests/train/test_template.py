"""The chat template: what the model sees of a conversation."""

from __future__ import annotations

import json
from typing import Any

import pytest

from shakedown.serving.tasks import Answer, ToolCall
from train.chat import Renderer, completion

RENDERER = Renderer()
HI = {"role": "user", "content": "Hi"}
TOOL = {"type": "function", "function": {"name": "f", "description": "Does é.", "parameters": {"type": "object"}}}
DECLARED = '{"name": "f", "description": "Does é.", "parameters": {"type": "object"}}'
OPEN, CLOSED = "<|turn|>assistant\n<think>\n", "<|turn|>assistant\n<think>\n\n</think>\n\n"


def called(arguments: Any, **message: Any) -> dict[str, Any]:
    call = {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": arguments}}
    return {"role": "assistant", "content": None, "tool_calls": [call], **message}


def result(text: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": "call_1", "content": text}


def prompt(*messages: dict[str, Any], tools: list[dict[str, Any]] | None = None, thinking: bool = True) -> str:
    return RENDERER.prompt(messages, tools, thinking=thinking)


def test_the_thinking_block_is_open_or_empty() -> None:
    assert prompt(HI) == f"<|turn|>user\nHi<|end|>\n{OPEN}"
    assert prompt(HI, thinking=False) == f"<|turn|>user\nHi<|end|>\n{CLOSED}"


def test_thinking_is_on_by_default() -> None:
    assert RENDERER._template.render(messages=[HI], add_generation_prompt=True) == prompt(HI)
    assert RENDERER._template.render(messages=[HI]) == "<|turn|>user\nHi<|end|>\n"


@pytest.mark.parametrize("role", ["system", "developer"])
def test_instructions_stand_in_front(role: str) -> None:
    assert prompt({"role": role, "content": "Be brief."}, HI).startswith(
        "<|turn|>system\nBe brief.<|end|>\n<|turn|>user"
    )


def test_tools_stand_in_the_system_turn_with_and_without_instructions() -> None:
    alone = prompt(HI, tools=[TOOL, TOOL])
    beside = prompt({"role": "system", "content": "Be brief."}, HI, tools=[TOOL, TOOL])
    offer = f"Functions on offer:\n{DECLARED}\n{DECLARED}\n"
    assert alone.startswith("<|turn|>system\n" + offer)
    assert beside == alone.replace(offer, "Be brief.\n\n" + offer)
    assert alone.count("<|turn|>system") == beside.count("<|turn|>system") == 1


def test_a_declaration_may_lack_all_but_its_name() -> None:
    assert '{"name": "g", "description": "", "parameters": {}}' in prompt(
        HI, tools=[{"type": "function", "function": {"name": "g", "description": None}}]
    )


def test_parts_are_joined_as_text() -> None:
    parts = {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}
    assert prompt(parts) == prompt({"role": "user", "content": "a\nb"})


@pytest.mark.parametrize("arguments", [{"city": "Łódź"}, '{"city": "Łódź"}'])
def test_calls_and_results_of_the_current_exchange_with_their_reasoning(arguments: object) -> None:
    for name in ("reasoning", "reasoning_content"):
        text = prompt(HI, called(arguments, **{name: "\nI call f.\n"}), result("1"), result("2"))
        assert text == (
            "<|turn|>user\nHi<|end|>\n<|turn|>assistant\n<think>\nI call f.\n</think>\n\n"
            '<tool_call>\n{"name": "f", "arguments": {"city": "Łódź"}}\n</tool_call><|end|>\n'
            f"<|turn|>tool\n<|result|>1\n<|result|>2<|end|>\n{OPEN}"
        )


def test_reasoning_before_the_latest_question_is_dropped() -> None:
    said = {"role": "assistant", "content": "\n\nHello.", "reasoning": "They greet."}
    inline = {"role": "assistant", "content": "<think>\nThey greet.\n</think>\n\nHello."}
    text = prompt(HI, said, HI)
    assert text == f"<|turn|>user\nHi<|end|>\n<|turn|>assistant\nHello.<|end|>\n<|turn|>user\nHi<|end|>\n{OPEN}"
    assert prompt(HI, inline, HI) == text
    assert "I call f." not in prompt(HI, called({}, reasoning="I call f."), result("1"), said, HI)


def test_content_and_several_calls() -> None:
    message = called({"a": 1}, content="One moment.")
    message["tool_calls"] *= 2
    call = '<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>'
    assert f"<|turn|>assistant\nOne moment.\n{call}\n{call}<|end|>" in prompt(HI, message, result("1"))


@pytest.mark.parametrize("thinking", [True, False])
def test_a_completion_continues_the_prompt_to_what_the_template_shows_of_it_later(thinking: bool) -> None:
    arguments = {"city": "Łódź"}
    call = ToolCall("f", json.dumps(arguments, ensure_ascii=False))
    answer = Answer(thinking="I call f.", tool_calls=(call, call))
    whole = prompt(HI, thinking=thinking) + completion(answer, thinking=thinking)
    message = called(arguments, reasoning="I call f." if thinking else None)
    message["tool_calls"] *= 2
    later = prompt(HI, message, result("1"), thinking=thinking)
    assert later.startswith(whole if thinking else whole.replace("<think>\n\n</think>\n\n", ""))
