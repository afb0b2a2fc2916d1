"""CI-01: what one user sent never shows up in what another receives."""

from __future__ import annotations

from collections.abc import Sequence

from shakedown.serving.answer import Answer
from shakedown.serving.judges.verdict import Verdict, Violation


def own_nonce_only(answers: Sequence[Answer]) -> Verdict:
    """No field of any answer, and none of its raw bytes, holds the nonce of another request.

    Args:
        answers: of requests whose ``about`` says ``nonce``, sent at the same time.
    """
    nonces = {answer.name: str(answer.exchange.request.about["nonce"]) for answer in answers}
    violations = [
        Violation(answer.name, f"holds {nonce}, the nonce of {other}; its own is {nonces[answer.name]}")
        for answer in answers
        for other, nonce in nonces.items()
        if other != answer.name and _holds(answer, nonce)
    ]
    return Verdict(len(answers), tuple(violations))


def repeats_own(answer: Answer) -> bool:
    """Whether the answer's text holds the nonce that it was asked to repeat."""
    return str(answer.exchange.request.about["nonce"]) in answer.content


def _holds(answer: Answer, nonce: str) -> bool:
    return any(nonce in text for text in (*answer.texts.values(), answer.exchange.text))
