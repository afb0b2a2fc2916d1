"""LE: what cannot be served is refused properly, and the server is none the worse for it. Sent last of all."""

from __future__ import annotations

import pytest

from fixtures.claim import Claim
from shakedown.inventory.model import Deployment
from shakedown.serving.answer import answers
from shakedown.serving.client import Client
from shakedown.serving.corpus import Corpus
from shakedown.serving.exchange import Exchange
from shakedown.serving.grading import grade, misses
from shakedown.serving.judges.refusals import refusal_problems
from shakedown.serving.plans.limits import canary
from shakedown.serving.setting import Setting

pytestmark = pytest.mark.serving


@pytest.mark.check("LE-03", stages=("serving",), needs=("ID-01",))
@pytest.mark.parametrize("name", ["whole", "streamed"])
def test_oversize_prompt_is_refused(
    oversize: dict[str, Exchange], name: str, deployment: Deployment, claim: Claim
) -> None:
    """A prompt beyond the model's length is refused with status 400 within seconds, and the limit is named."""
    limit = deployment.model.max_model_len
    problems = list(refusal_problems(oversize[name], limit=limit))
    claim(not problems, found="; ".join(problems), expected=f"HTTP 400, and a message that names {limit} tokens")


@pytest.mark.check("LE-11", stages=("serving",), needs=("GT-01",))
async def test_server_is_alive_after_refusing(
    oversize: dict[str, Exchange], api: Client, corpus: Corpus, setting: Setting, claim: Claim
) -> None:
    """After it was sent what it had to refuse, the server still answers, and rightly."""
    after = answers(await corpus.send(api, canary(setting)))
    graded = list(map(grade, after))
    claim(
        all(each.verdict.right for each in graded),
        found=f"after {len(oversize)} refused requests: {misses(graded)}",
        expected=f"{len(graded)} right answers of {len(graded)}",
    )
