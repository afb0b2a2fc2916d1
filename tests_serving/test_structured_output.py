"""SO: a JSON schema binds the answer, whatever the prompt says, and leaves the thinking free."""

from __future__ import annotations

import pytest

from fixtures.claim import Claim
from shakedown.serving.answer import Answer
from shakedown.serving.judges import reasoning, structured
from shakedown.serving.judges.verdict import judge

pytestmark = pytest.mark.serving


@pytest.mark.check("SO-01", stages=("serving",), needs=("PR-12", "RE-01", "RE-02", "RE-03", "PR-01", "ST-02"))
def test_answers_keep_to_their_schema(bound: tuple[Answer, ...], claim: Claim) -> None:
    """An answer that is bound to the schema its prompt asks for is JSON and validates, thinking or not."""
    verdict = judge(bound, structured.conforms)
    claim(verdict.holds, found=verdict.found, expected="JSON that validates against the schema of the request")


@pytest.mark.check("SO-04", stages=("serving",), needs=("SO-01",))
@pytest.mark.requires("reasoning")
def test_schema_leaves_the_thinking_free(bound: tuple[Answer, ...], claim: Claim) -> None:
    """With thinking on, a schema binds the content alone: there is thinking, and it is free text."""
    verdict = judge([answer for answer in bound if answer.thinking], reasoning.free)
    claim(verdict.holds, found=verdict.found, expected="reasoning in words beside content in JSON")


@pytest.mark.check("SO-05", stages=("serving",), needs=("SO-01",))
def test_schema_wins_over_the_prompt(against_the_prompt: tuple[Answer, ...], claim: Claim) -> None:
    """Where the prompt orders another format the schema still wins: it is enforced, not obeyed."""
    verdict = judge(against_the_prompt, structured.conforms)
    claim(verdict.holds, found=verdict.found, expected="JSON that validates against the schema of the request")
