"""The official clients parse what is sent; without retries, which would hide an error."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import anthropic
import openai
import pytest

from selftests.simulator.talk import MODEL, tool_item
from shakedown.simulator.run import Running

QUESTION = "What is 417 + 386?"


@pytest.fixture
def client(fast: Running) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(
        base_url=fast.base_url + "/v1", api_key="any", max_retries=0, _strict_response_validation=True
    ) as client:
        yield client


@pytest.fixture
def claude(fast: Running) -> Iterator[anthropic.Anthropic]:
    """Not strict: vLLM starts a thinking block without the signature that the schema demands, and so do we."""
    with anthropic.Anthropic(base_url=fast.base_url, api_key="any", max_retries=0) as client:
        yield client


@pytest.fixture
def strict_claude(fast: Running) -> Iterator[anthropic.Anthropic]:
    with anthropic.Anthropic(
        base_url=fast.base_url, api_key="any", max_retries=0, _strict_response_validation=True
    ) as client:
        yield client


def test_openai_reads_a_whole_answer(client: openai.OpenAI) -> None:
    completion = client.chat.completions.create(
        model=MODEL, messages=[{"role": "user", "content": QUESTION}], logprobs=True, top_logprobs=2
    )
    choice = completion.choices[0]
    assert choice.message.content == "\n\n803"
    assert choice.finish_reason == "stop"
    assert getattr(choice.message, "reasoning", "").startswith("7+6=13")
    assert completion.usage is not None
    assert completion.usage.total_tokens == completion.usage.prompt_tokens + completion.usage.completion_tokens
    assert choice.logprobs is not None
    assert len(choice.logprobs.content or ()) == completion.usage.completion_tokens


def test_openai_reads_a_stream(client: openai.OpenAI) -> None:
    stream = client.chat.completions.create(
        model=MODEL,
        messages=[{"role": "user", "content": QUESTION}],
        stream=True,
        stream_options={"include_usage": True},
    )
    chunks = list(stream)
    text = "".join(choice.delta.content or "" for chunk in chunks for choice in chunk.choices)
    assert text == "\n\n803"
    assert chunks[-1].usage is not None
    assert [choice.finish_reason for chunk in chunks for choice in chunk.choices][-1] == "stop"


def test_openai_reads_tool_calls_in_both_modes(client: openai.OpenAI) -> None:
    item = tool_item()
    assert isinstance(item.key, dict)
    ask: dict[str, Any] = {"model": MODEL, "messages": list(item.messages), "tools": list(item.tools or ())}
    completion = client.chat.completions.create(**ask)
    (call,) = completion.choices[0].message.tool_calls or []
    assert call.type == "function"
    assert call.function.name == item.key["name"]
    pieces = [
        piece
        for chunk in client.chat.completions.create(**ask, stream=True)
        for choice in chunk.choices
        for piece in choice.delta.tool_calls or ()
    ]
    arguments = "".join(piece.function.arguments or "" for piece in pieces if piece.function)
    assert arguments == call.function.arguments


def test_openai_reads_models_and_completions(client: openai.OpenAI) -> None:
    assert [model.id for model in client.models.list()] == [MODEL]
    completion = client.completions.create(model=MODEL, prompt="What is 2 + 3?", logprobs=1)
    assert completion.choices[0].text == "5"


def test_openai_raises_what_the_status_says(client: openai.OpenAI) -> None:
    with pytest.raises(openai.NotFoundError) as caught:
        client.chat.completions.create(model="other", messages=[{"role": "user", "content": QUESTION}])
    assert "`other` does not exist" in str(caught.value)
    with pytest.raises(openai.BadRequestError) as refused:
        client.chat.completions.create(model=MODEL, messages=[{"role": "user", "content": "x " * 4000}])
    assert "4096" in str(refused.value)


def test_anthropic_reads_a_message(strict_claude: anthropic.Anthropic) -> None:
    message = strict_claude.messages.create(
        model=MODEL, max_tokens=200, messages=[{"role": "user", "content": QUESTION}]
    )
    assert [block.type for block in message.content] == ["thinking", "text"]
    counted = strict_claude.messages.count_tokens(model=MODEL, messages=[{"role": "user", "content": QUESTION}])
    assert counted.input_tokens == message.usage.input_tokens


def test_anthropic_reads_a_stream_to_the_same_message(claude: anthropic.Anthropic) -> None:
    whole = claude.messages.create(model=MODEL, max_tokens=200, messages=[{"role": "user", "content": QUESTION}])
    with claude.messages.stream(
        model=MODEL, max_tokens=200, messages=[{"role": "user", "content": QUESTION}]
    ) as stream:
        message = stream.get_final_message()
    assert [block.type for block in message.content] == ["thinking", "text"]
    assert getattr(message.content[1], "text", None) == getattr(whole.content[1], "text", None)
    assert message.usage.output_tokens == whole.usage.output_tokens
    assert message.stop_reason == "end_turn"


def test_anthropic_reads_a_streamed_tool_use(claude: anthropic.Anthropic) -> None:
    item = tool_item()
    assert isinstance(item.key, dict)
    tools = [
        {
            "name": tool["function"]["name"],
            "description": tool["function"]["description"],
            "input_schema": tool["function"]["parameters"],
        }
        for tool in item.tools or ()
    ]
    with claude.messages.stream(
        model=MODEL,
        max_tokens=200,
        messages=list(item.messages),  # type: ignore[arg-type]
        tools=tools,  # type: ignore[arg-type]
    ) as stream:
        message = stream.get_final_message()
    block = message.content[-1]
    assert block.type == "tool_use"
    assert block.input == item.key["arguments"]
    assert message.stop_reason == "tool_use"
