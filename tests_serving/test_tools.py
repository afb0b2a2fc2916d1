"""TC: tool calls come as calls, valid against the schema of the tool, in both ways in which an answer comes."""

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
from shakedown.serving.judges import tools
from shakedown.serving.judges.verdict import judge, judge_complete, judge_together
from shakedown.serving.plans.tools import more_tool_calls
from shakedown.serving.setting import Setting

pytestmark = pytest.mark.serving


@pytest.mark.check("TC-01", stages=("serving",), needs=("PR-12", "RE-03", "DN-02"))
@pytest.mark.requires("tools")
async def test_the_right_tool_is_called(
    tool_calls: tuple[Answer, ...],
    api: Client,
    corpus: Corpus,
    setting: Setting,
    claim: Claim,
    measured: Callable[[Metric], None],
) -> None:
    """A prompt that one of the offered tools is made for is answered by the right call of that tool."""
    outcome = await gated(LIGHT, list(map(grade, tool_calls)), api, corpus, lambda: more_tool_calls(setting))
    measured(outcome.metric("tool_call.right"))
    claim(outcome.passed, found=outcome.found, expected=outcome.expected)


@pytest.mark.check("TC-03", stages=("serving",), needs=("TC-01", "TC-06", "RE-01"))
@pytest.mark.requires("tools")
def test_a_call_that_is_required_is_made(required_calls: tuple[Answer, ...], claim: Claim) -> None:
    """With tool_choice required there is a valid call, thinking or not, streamed or not."""
    verdict = judge(required_calls, tools.required)
    claim(verdict.holds, found=verdict.found, expected="a call of an offered tool, valid against its schema")


@pytest.mark.check("TC-06", stages=("serving",), needs=("TC-01", "ST-01"))
@pytest.mark.requires("tools")
def test_streamed_calls_are_complete(streamed_calls: tuple[Answer, ...], claim: Claim) -> None:
    """The pieces of a streamed call join to valid arguments, and its id and name come exactly once."""
    verdict = judge(streamed_calls, tools.streamed)
    claim(verdict.holds, found=verdict.found, expected="valid arguments of an offered tool; id and name once per call")


@pytest.mark.check("TC-14", stages=("serving",), needs=("PR-01", "ST-02"))
@pytest.mark.requires("tools")
def test_finish_reason_tells_of_calls(chats: tuple[Answer, ...], claim: Claim) -> None:
    """An answer ends with finish reason tool_calls exactly when it holds calls."""
    verdict = judge_complete(chats, tools.finish)
    claim(verdict.holds, found=verdict.found, expected="tool_calls with calls, another reason without")


@pytest.mark.check("TC-18", stages=("serving",), needs=("TC-01",))
@pytest.mark.requires("tools")
def test_calls_can_be_told_apart(chats: tuple[Answer, ...], claim: Claim) -> None:
    """Every call has an id, and no two calls share one."""
    verdict = judge_together([answer for answer in chats if answer.tool_calls], tools.ids)
    claim(verdict.holds, found=verdict.found, expected="an id of its own for every call")
