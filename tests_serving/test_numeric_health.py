"""DN: the numbers behind the answers are numbers, and the text is text."""

from __future__ import annotations

import pytest

from fixtures.claim import Claim
from shakedown.serving.answer import Answer
from shakedown.serving.judges import degeneration, numbers
from shakedown.serving.judges.verdict import judge_complete

pytestmark = pytest.mark.serving


@pytest.mark.check("DN-01", stages=("serving",), needs=("ID-01",))
def test_logprobs_are_numbers(answers: tuple[Answer, ...], claim: Claim) -> None:
    """Every log probability is a finite number that one can be."""
    verdict = judge_complete([each for each in answers if each.logprobs_asked], numbers.finite)
    claim(verdict.holds, found=verdict.found, expected="finite, not above 0, above the clamp for sampled tokens")


@pytest.mark.check("DN-02", stages=("serving",), needs=("ID-01",))
def test_no_answer_is_degenerate(chats: tuple[Answer, ...], claim: Claim) -> None:
    """No answer consists of runs, loops, exclamation marks or control characters."""
    verdict = judge_complete(chats, degeneration.healthy)
    claim(verdict.holds, found=verdict.found, expected="text, in every field of every answer")
