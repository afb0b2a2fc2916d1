"""GT: the answers are right, over items generated from the run's seed, by a declared gate."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fixtures.claim import Claim
from shakedown.outcomes import Metric
from shakedown.serving.answer import Answer
from shakedown.serving.client import Client
from shakedown.serving.corpus import Corpus
from shakedown.serving.gates import LIGHT
from shakedown.serving.grading import gated, grade
from shakedown.serving.plans.items import ANSWERED, more_answers, more_thinking
from shakedown.serving.setting import Setting

pytestmark = pytest.mark.serving


@pytest.mark.check("GT-01", stages=("serving",), needs=("PR-12", "RE-03", "DN-02", "ST-01"))
@pytest.mark.parametrize("family", ANSWERED)
async def test_short_answers_are_right(
    answers: tuple[Answer, ...],
    family: str,
    api: Client,
    corpus: Corpus,
    setting: Setting,
    claim: Claim,
    measured: Callable[[Metric], None],
) -> None:
    """With thinking off, easy questions with one right answer are answered rightly."""
    first = [grade(answer) for answer in answers if answer.exchange.request.about["family"] == family]
    outcome = await gated(ANSWERED[family], first, api, corpus, lambda: more_answers(setting, family))
    measured(outcome.metric(f"{family}.right"))
    claim(outcome.passed, found=outcome.found, expected=outcome.expected)


@pytest.mark.check("GT-02", stages=("serving",), needs=("RE-01", "RE-02", "GT-01"))
@pytest.mark.requires("reasoning")
async def test_answers_after_thinking_are_right(
    thinking: tuple[Answer, ...],
    api: Client,
    corpus: Corpus,
    setting: Setting,
    claim: Claim,
    measured: Callable[[Metric], None],
) -> None:
    """With thinking on, easy questions with one right answer are answered rightly."""
    outcome = await gated(LIGHT, list(map(grade, thinking)), api, corpus, lambda: more_thinking(setting))
    measured(outcome.metric("thinking.right"))
    claim(outcome.passed, found=outcome.found, expected=outcome.expected)
