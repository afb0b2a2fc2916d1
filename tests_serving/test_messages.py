"""AN: the Anthropic API of the same server says the same as its OpenAI API."""

from __future__ import annotations

import pytest
from anthropic import APIError, APIResponseValidationError, AsyncAnthropic
from anthropic.types import TextBlock

from fixtures.claim import Claim
from shakedown.engines.vllm import wire
from shakedown.serving.answer import Answer, as_dict
from shakedown.serving.exchange import Exchange
from shakedown.serving.judges import messages as judges
from shakedown.serving.judges.verdict import judge
from shakedown.serving.message import Message
from shakedown.serving.plans.conversations import CONVERSATIONS, MESSAGES
from shakedown.serving.setting import Setting

pytestmark = pytest.mark.serving


@pytest.mark.check("AN-01", stages=("serving",), needs=("PR-08", "PR-12", "RE-01"))
def test_message_has_its_blocks(messages: tuple[Message, ...], setting: Setting, claim: Claim) -> None:
    """A message holds its thinking and its text as blocks in that order, a stop reason and its usage."""
    verdict = judge(messages, lambda message: judges.shape(message, thinking=setting.reasoning))
    claim(verdict.holds, found=verdict.found, expected="thinking (where the model thinks), then text, none empty")


@pytest.mark.check("AN-01", stages=("serving",), needs=("PR-08", "PR-12", "RE-01"))
async def test_anthropic_sdk_reads_the_message(anthropic_sdk: AsyncAnthropic, setting: Setting, claim: Claim) -> None:
    """The official Anthropic client, validating strictly, finds text and usage in a message."""
    try:
        message = await anthropic_sdk.messages.create(
            model=setting.model,
            messages=[{"role": "user", "content": "Reply with only the word Saddle."}],
            max_tokens=setting.thinking_room,
            extra_body={"temperature": 0},
        )
    except APIResponseValidationError as error:
        raise claim.finding(found=f"it refuses the message: {error}", expected="one that validates") from error
    except APIError as error:
        raise claim.finding(found=f"{type(error).__name__}: {error}", expected="a message") from error
    text = "".join(block.text for block in message.content if isinstance(block, TextBlock))
    claim(
        bool(text.strip()) and message.usage.output_tokens > 0,
        found=f"text {text!r}, usage {message.usage}",
        expected="text, and the tokens that it took",
    )


@pytest.mark.check("AN-02", stages=("serving",), needs=("PR-08", "PR-12"))
def test_streamed_message_keeps_its_order(messages: tuple[Message, ...], claim: Claim) -> None:
    """The events of a streamed message follow the API's order, block after block."""
    verdict = judge([message for message in messages if message.streamed], judges.order)
    claim(verdict.holds, found=verdict.found, expected="start, blocks 0, 1, … one after the other, delta, stop")


@pytest.mark.check("AN-08", stages=("serving",), needs=("PR-08", "ID-06"))
@pytest.mark.parametrize("name", MESSAGES)
def test_all_ways_of_counting_agree(
    counted_messages: dict[str, Exchange], name: str, setting: Setting, claim: Claim
) -> None:
    """count_tokens, the usage of a message and the usage of the same chat name the same number of prompt tokens."""
    if reason := CONVERSATIONS[name].unsuited(setting):
        pytest.skip(reason)
    counted, sent, chat = (counted_messages[f"{name}-{way}"] for way in ("count", "message", "chat"))
    found = {
        wire.COUNT_TOKENS: as_dict(counted.json).get("input_tokens"),
        wire.MESSAGES: Message(sent).input_tokens,
        wire.CHAT: Answer(chat).prompt_tokens,
    }
    claim(
        None not in found.values() and len(set(found.values())) == 1,
        found=", ".join(f"{path}: {count}" for path, count in found.items()),
        expected="three equal numbers",
    )
