"""OB: the server is alive in earnest, and keeps true accounts."""

from __future__ import annotations

import pytest

from fixtures.claim import Claim
from shakedown.engines.vllm import wire
from shakedown.errors import ServerError
from shakedown.serving import counters
from shakedown.serving.answer import Answer, answers
from shakedown.serving.capabilities import said
from shakedown.serving.client import Client
from shakedown.serving.corpus import Corpus
from shakedown.serving.plans.probes import counted, one_token
from shakedown.serving.requests import get
from shakedown.serving.setting import Setting

pytestmark = pytest.mark.serving


@pytest.mark.check("OB-01", stages=("serving",))
async def test_health_is_more_than_a_word(api: Client, setting: Setting, claim: Claim) -> None:
    """The server calls itself healthy, and generates a token within the deadline."""
    health = await api.send("health", get(wire.HEALTH))
    claim(health.problem is None, found=f"GET {wire.HEALTH}: {said(health)}", expected="HTTP 200")
    answer = Answer(await api.send("one-token", one_token(setting)))
    deadline_s = answer.exchange.request.deadline_s
    claim(
        answer.exchange.problem is None and answer.completion_tokens == 1,
        found=f"{wire.HEALTH} says 200, and a one-token request: {said(answer.exchange)}",
        expected=f"one token within {deadline_s:g} s",
    )


@pytest.mark.check("OB-02", stages=("serving",), needs=("ID-06", "PR-01", "ST-04"))
async def test_counters_grow_by_exactly_what_was_sent(
    api: Client, corpus: Corpus, setting: Setting, claim: Claim
) -> None:
    """On a quiet server, the token and request counters grow by exactly what the answers say they used."""
    try:
        before = await counters.read_at_rest(api)
        if before.busy:
            pytest.skip(f"not quiet: {before.busy} requests of others are running or waiting")
        batch = answers(await corpus.send(api, counted(setting)))
        expected = counters.work_of(batch)
        after = await counters.read_settled(api, before.work, expected)
    except ServerError as error:
        raise claim.finding(found=str(error), expected="the counters of the engine's release") from error
    if after.busy:
        pytest.skip(f"not quiet: {after.busy} requests of others are running or waiting")
    if after.work.requests > expected.requests:
        pytest.skip(f"not quiet: {after.work.requests} requests ended while {expected.requests} were sent")
    claim(
        after.work == expected,
        found=f"the counters grew by {after.work}",
        expected=f"{expected}, as the usage of {len(batch)} answers says",
    )
