"""PR: the shape of what is served, by our judges and by the client library that people use."""

from __future__ import annotations

import pytest
from openai import APIError, APIResponseValidationError, AsyncOpenAI

from fixtures.claim import Claim
from shakedown.engines.vllm import wire
from shakedown.serving.answer import Answer
from shakedown.serving.capabilities import missing_routes, said, version_of
from shakedown.serving.client import Client
from shakedown.serving.judges import schema
from shakedown.serving.judges.verdict import judge_complete
from shakedown.serving.plans import Setting
from shakedown.serving.requests import get

pytestmark = pytest.mark.serving


@pytest.mark.check("PR-08", stages=("serving",), needs=("OB-01",))
async def test_required_routes_exist(api: Client, claim: Claim) -> None:
    """Every route that clients of this engine's release rely on is there."""
    named = await api.send("version", get(wire.VERSION))
    version = version_of(named)
    claim(version is not None, found=f"GET {wire.VERSION}: {said(named)}", expected="the engine's release")
    described = await api.send("openapi", get(wire.OPENAPI))
    claim(
        isinstance(described.json, dict),
        found=f"GET {wire.OPENAPI}: {said(described)}",
        expected="the server's description of its routes",
    )
    missing = missing_routes(described, version or (0, 0, 0))
    claim(
        not missing,
        found=f"{wire.OPENAPI} lacks {', '.join(map(str, missing))}",
        expected=f"all routes of release {'.'.join(map(str, version or ()))}",
    )


@pytest.mark.check("PR-01", stages=("serving",), needs=("ID-01",))
def test_every_body_has_the_documented_shape(whole_chats: tuple[Answer, ...], claim: Claim) -> None:
    """Every chat completion that came whole has the documented shape, a finish reason, and a usage that adds up."""
    verdict = judge_complete(whole_chats, schema.body_shape)
    claim(verdict.holds, found=verdict.found, expected="no deviation in any stored body")


@pytest.mark.check("PR-01", stages=("serving",), needs=("ID-01",))
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
async def test_openai_sdk_reads_the_answer(
    openai_sdk: AsyncOpenAI, setting: Setting, stream: bool, claim: Claim
) -> None:
    """The official OpenAI client, validating strictly, finds text and usage in an answer."""
    try:
        text, tokens = await _asked_by_sdk(openai_sdk, setting.model, stream=stream)
    except APIResponseValidationError as error:
        raise claim.finding(found=f"it refuses the answer: {error}", expected="an answer that validates") from error
    except APIError as error:
        raise claim.finding(found=f"{type(error).__name__}: {error}", expected="an answer") from error
    claim(
        bool(text.strip()) and tokens > 0,
        found=f"text {text!r}, {tokens} completion tokens",
        expected="text, and the tokens that it took",
    )


async def _asked_by_sdk(sdk: AsyncOpenAI, model: str, *, stream: bool) -> tuple[str, int]:
    """Text and completion tokens, as a user of the SDK gets at them."""
    extra = {"chat_template_kwargs": {"enable_thinking": False}}
    if not stream:
        done = await sdk.chat.completions.create(
            model=model,
            messages=[{"role": "user", "content": "What is 17 + 25?"}],
            max_tokens=16,
            temperature=0,
            extra_body=extra,
        )
        return done.choices[0].message.content or "", done.usage.completion_tokens if done.usage else 0
    text, tokens = "", 0
    async for chunk in await sdk.chat.completions.create(
        model=model,
        messages=[{"role": "user", "content": "What is 17 + 25?"}],
        max_tokens=16,
        temperature=0,
        stream=True,
        stream_options={"include_usage": True},
        extra_body=extra,
    ):
        text += "".join(choice.delta.content or "" for choice in chunk.choices)
        tokens = chunk.usage.completion_tokens if chunk.usage else tokens
    return text, tokens
