"""ST: streamed answers are framed so that every client can read them to the end."""

from __future__ import annotations

import pytest

from fixtures.claim import Claim
from shakedown.serving.answer import Answer
from shakedown.serving.judges import framing
from shakedown.serving.judges.verdict import judge_complete

pytestmark = pytest.mark.serving


@pytest.mark.check("ST-01", stages=("serving",), needs=("ID-01",))
def test_streams_are_events_that_end_with_done(streamed_chats: tuple[Answer, ...], claim: Claim) -> None:
    """A streamed answer is a sequence of JSON events, closed by exactly one [DONE]."""
    verdict = judge_complete(streamed_chats, framing.events)
    claim(verdict.holds, found=verdict.found, expected="JSON objects, then [DONE], then the end")


@pytest.mark.check("ST-02", stages=("serving",), needs=("ST-01",))
def test_streams_say_once_why_they_end(streamed_chats: tuple[Answer, ...], claim: Claim) -> None:
    """A streamed answer gives its finish reason exactly once, and nothing but usage behind it."""
    verdict = judge_complete(streamed_chats, framing.finish)
    claim(verdict.holds, found=verdict.found, expected="one finish reason in every stream")


@pytest.mark.check("ST-03", stages=("serving",), needs=("ST-01",))
def test_streams_are_about_one_answer(streamed_chats: tuple[Answer, ...], claim: Claim) -> None:
    """All chunks of a streamed answer carry the same id, time and model, and the first one the role."""
    verdict = judge_complete(streamed_chats, framing.identity)
    claim(verdict.holds, found=verdict.found, expected="one id, created and model; role assistant first")


@pytest.mark.check("ST-04", stages=("serving",), needs=("ST-01",))
def test_streams_account_for_their_tokens(streamed_chats: tuple[Answer, ...], claim: Claim) -> None:
    """A streamed answer ends with one usage chunk where usage was asked for."""
    verdict = judge_complete(streamed_chats, framing.usage)
    claim(verdict.holds, found=verdict.found, expected="one last chunk with usage and no choice")


@pytest.mark.check("ST-09", stages=("serving",), needs=("ID-01",))
def test_no_stream_hides_an_error(streamed_chats: tuple[Answer, ...], claim: Claim) -> None:
    """No stream that began with status 200 carries an error in place of an answer."""
    verdict = judge_complete(streamed_chats, framing.errors)
    claim(verdict.holds, found=verdict.found, expected="no error object in any event")


@pytest.mark.check("ST-10", stages=("serving",), needs=("ST-01",))
def test_streams_keep_their_phases_in_order(streamed_chats: tuple[Answer, ...], claim: Claim) -> None:
    """A streamed answer thinks first, then answers, then calls, and never goes back."""
    verdict = judge_complete(streamed_chats, framing.phases)
    claim(verdict.holds, found=verdict.found, expected="reasoning, then content, then tool calls")
