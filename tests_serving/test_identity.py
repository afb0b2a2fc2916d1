"""ID: it is the model that was deployed, with its own tokenizer and its own template."""

from __future__ import annotations

import pytest

from fixtures.claim import Claim
from shakedown.engines.vllm import wire
from shakedown.inventory.model import Deployment
from shakedown.serving.answer import Answer, as_dict
from shakedown.serving.capabilities import said, served_models
from shakedown.serving.client import Client
from shakedown.serving.corpus import Corpus
from shakedown.serving.exchange import Exchange
from shakedown.serving.judges.tokens import round_trip
from shakedown.serving.plans.conversations import CONVERSATIONS
from shakedown.serving.plans.texts import back, texts
from shakedown.serving.requests import get
from shakedown.serving.setting import Setting

pytestmark = pytest.mark.serving


@pytest.mark.check("ID-01", stages=("serving",), needs=("OB-01",))
async def test_served_model_is_the_declared_one(api: Client, deployment: Deployment, claim: Claim) -> None:
    """The declared model is served, from the declared folder, with the declared length."""
    declared = deployment.model
    exchange = await api.send("models", get(wire.MODELS))
    models = {model.id: model for model in served_models(exchange)}
    claim(
        declared.served_name in models,
        found=f"ids {list(models)} in {said(exchange)}",
        expected=f"{declared.served_name!r} among them (other names and adapters may be served beside it)",
    )
    model = models[declared.served_name]
    claim(
        model.max_model_len == declared.max_model_len,
        found=f"{model.id} is served with max_model_len {model.max_model_len}",
        expected=f"{declared.max_model_len}, as [model].max_model_len of the deployment file says",
    )
    claim(
        model.root.rstrip("/") in (str(declared.path), declared.served_name),
        found=f"{model.id} is served from {model.root!r}",
        expected=f"{declared.path}, as [model].path of the deployment file says",
    )


@pytest.mark.check("ID-04", stages=("serving",), needs=("PR-08", "ID-01"))
async def test_text_survives_the_tokenizer(api: Client, corpus: Corpus, setting: Setting, claim: Claim) -> None:
    """Text of many scripts is the same after the server has split it into tokens and joined them again."""
    there = await corpus.send(api, texts(setting))
    verdict = round_trip(there, await corpus.send(api, back(setting, there)))
    claim(
        verdict.holds,
        found=verdict.found,
        expected="every text comes back as it went, up to composed characters (NFC)",
    )


@pytest.mark.check("ID-06", stages=("serving",), needs=("PR-08", "PR-12"))
@pytest.mark.parametrize("name", CONVERSATIONS)
def test_prompt_is_as_long_as_the_tokenizer_says(
    conversations: dict[str, Exchange], name: str, setting: Setting, claim: Claim
) -> None:
    """A conversation costs as many prompt tokens as the server's own tokenizer counts for it."""
    if reason := CONVERSATIONS[name].unsuited(setting):
        pytest.skip(reason)
    counted = conversations[f"{name}-tokenize"]
    count = as_dict(counted.json).get("count")
    answer = Answer(conversations[f"{name}-chat"])
    claim(
        isinstance(count, int) and answer.prompt_tokens == count,
        found=f"usage.prompt_tokens of the chat is {answer.prompt_tokens} ({said(answer.exchange)})",
        expected=f"{wire.TOKENIZE} counts {count} for the same messages ({said(counted)})",
    )
