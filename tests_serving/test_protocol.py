"""PR: the shape of what is served, by our judges and by the client library that people use."""

from __future__ import annotations

import pytest
from openai import APIError, AsyncOpenAI
from openai.types.chat import ChatCompletionUserMessageParam

from fixtures.claim import Claim
from shakedown.engines.vllm import wire
from shakedown.serving.answer import Answer
from shakedown.serving.capabilities import is_unnumbered, missing_routes, said, version_of
from shakedown.serving.client import Client
from shakedown.serving.exchange import shortened
from shakedown.serving.judges import schema
from shakedown.serving.judges.verdict import judge_answered, judge_complete
from shakedown.serving.requests import get
from shakedown.serving.setting import Setting

pytestmark = pytest.mark.serving

QUESTION: list[ChatCompletionUserMessageParam] = [{"role": "user", "content": "What is 17 + 25?"}]


@pytest.mark.check("PR-08", stages=("serving",), needs=("OB-01",))
async def test_required_routes_exist(api: Client, claim: Claim) -> None:
    """Every route that clients of this engine's release rely on is there."""
    named = await api.send("version", get(wire.VERSION))
    if is_unnumbered(named):
        pytest.skip(f"the routes are judged by release, and this build from sources tells of none: {said(named)}")
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


@pytest.mark.check("PR-12", stages=("serving",), needs=("ID-01",))
def test_every_request_is_answered(chats: tuple[Answer, ...], claim: Claim) -> None:
    """Every chat request, eight at a time, gets a complete answer with status 200 before its deadline."""
    verdict = judge_answered(chats)
    claim(verdict.holds, found=verdict.found, expected="HTTP 200 and a body that is not cut off")


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
    """The official OpenAI client, validating strictly, reads an answer to its end."""
    try:
        read = await (_chunks(openai_sdk, setting.model) if stream else _choices(openai_sdk, setting.model))
    except (APIError, ValueError) as error:  # what is no JSON reaches the caller as a ValueError
        found = f"it raises {type(error).__name__}: {shortened(str(error))}"
        raise claim.finding(found=found, expected="an answer that the official client can read") from error
    claim(read > 0, found="it finds no choice in the answer", expected="at least one choice")


async def _choices(sdk: AsyncOpenAI, model: str) -> int:
    done = await sdk.chat.completions.create(model=model, messages=QUESTION, max_tokens=16, temperature=0)
    return len(done.choices)


async def _chunks(sdk: AsyncOpenAI, model: str) -> int:
    chunks = await sdk.chat.completions.create(
        model=model,
        messages=QUESTION,
        max_tokens=16,
        temperature=0,
        stream=True,
        stream_options={"include_usage": True},
    )
    return sum([len(chunk.choices) async for chunk in chunks])
