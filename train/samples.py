"""Exercises: a conversation of the pool with things around it, and the one right way to go on."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace

from shakedown.serving.tasks import CONVERSATION, Answer, respond
from shakedown.serving.tasks.item import Message, Question, Tool
from shakedown.serving.tasks.randomness import stream
from train import augment, heldout
from train.families import ALL

THINKING_SHARE = 0.55


@dataclass(frozen=True, slots=True)
class Sample:
    """One exercise.

    Attributes:
        family: that the question is of.
        thinking: whether reasoning is asked for.
        messages: the conversation up to the question.
        tools: functions on offer, None if there are none.
        answer: the right one. Its reasoning is a function of the conversation, so there is one right text.
    """

    family: str
    thinking: bool
    messages: tuple[Message, ...]
    tools: tuple[Tool, ...] | None
    answer: Answer


def sample(family: str, rng: random.Random, *, thinking: bool, unseen: bool = False) -> Sample:
    """An exercise of a family.

    Args:
        family: name in the pool.
        rng: where all chance comes from.
        thinking: whether reasoning is asked for.
        unseen: whether two numbers in the question are to be a pair that is held out from training, or not to be.
    """
    question = augment.draw(family, rng)
    while (pair := heldout.operands(question.messages)) and heldout.held_out(pair) != unseen:
        question = augment.draw(family, rng)
    return _dressed(family, question, rng, thinking=thinking)


def validation(family: str, seed: int, *, thinking: bool) -> Iterator[Sample]:
    """Exercises that training does not see, always the same ones for a seed."""
    rng = stream("validation", seed, family, thinking)
    while True:
        yield sample(family, rng, thinking=thinking, unseen=True)


def _dressed(family: str, question: Question, rng: random.Random, *, thinking: bool) -> Sample:
    bare = question
    if not question.tools and rng.random() < augment.TOOLS_SHARE:
        question = replace(question, tools=augment.some_tools(rng))
    if rng.random() < augment.EARLIER_SHARE:
        question = augment.after_exchange(question, rng)
    answer = _answer(family, question, alone=question is bare)
    messages = question.messages
    if rng.random() < augment.SYSTEM_SHARE:
        messages = augment.with_system(messages, rng)
    if family not in CONVERSATION and rng.random() < augment.POLITE_SHARE:
        messages = augment.politely(messages, rng)
    return Sample(family, thinking, messages, question.tools, answer)


def _answer(family: str, question: Question, *, alone: bool) -> Answer:
    """The pool's answer; to a question that stands alone the family gives it at once, which is faster."""
    if alone and family not in CONVERSATION:
        answer = ALL[family].solve(question.messages, question.tools or ())
    else:
        answer = respond(question.messages, question.tools)
    if answer is None:
        raise ValueError(f"the pool has no answer to {question.messages[-1]}")
    return answer
