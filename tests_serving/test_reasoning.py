"""RE: thinking is apart from the answer, in both ways in which an answer comes, and can be switched off."""

from __future__ import annotations

import pytest

from fixtures.claim import Claim
from shakedown.serving.answer import Answer
from shakedown.serving.judges import reasoning
from shakedown.serving.judges.verdict import judge, judge_complete

pytestmark = pytest.mark.serving

both_ways = pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])


@pytest.mark.check("RE-01", stages=("serving",), needs=("PR-12", "DN-02", "ST-01"))
@pytest.mark.requires("reasoning")
@both_ways
def test_thinking_is_apart_from_the_answer(thinking: tuple[Answer, ...], streamed: bool, claim: Claim) -> None:
    """With thinking on, the thinking is in its field and the answer in its own."""
    verdict = judge([answer for answer in thinking if answer.streamed == streamed], reasoning.present)
    claim(verdict.holds, found=verdict.found, expected="reasoning and content in every answer, neither empty")


@pytest.mark.check("RE-02", stages=("serving",), needs=("ID-01",))
def test_no_marker_reaches_the_reader(chats: tuple[Answer, ...], claim: Claim) -> None:
    """No think tag, role marker or tool-call tag stands in any field of any answer."""
    verdict = judge_complete(chats, reasoning.markers)
    claim(verdict.holds, found=verdict.found, expected="none, unless the prompt itself holds it")


@pytest.mark.check("RE-03", stages=("serving",), needs=("PR-12", "DN-02", "ST-01"))
@pytest.mark.requires("reasoning")
@both_ways
def test_thinking_can_be_switched_off(answers: tuple[Answer, ...], streamed: bool, claim: Claim) -> None:
    """With thinking off there is an answer and no thinking, whole and streamed."""
    verdict = judge([answer for answer in answers if answer.streamed == streamed], reasoning.absent)
    claim(verdict.holds, found=verdict.found, expected="content and no reasoning, with thinking switched off")


@pytest.mark.check("RE-04", stages=("serving",), needs=("RE-01", "PR-01", "ST-02", "ST-04"))
@pytest.mark.requires("reasoning")
@both_ways
def test_cut_off_thinking_is_no_answer(truncated: tuple[Answer, ...], streamed: bool, claim: Claim) -> None:
    """Thinking that runs into max_tokens is served as reasoning, with finish reason length and no content."""
    verdict = judge([answer for answer in truncated if answer.streamed == streamed], reasoning.truncated)
    claim(verdict.holds, found=verdict.found, expected="reasoning, no content, length, max_tokens tokens")
