"""Recall over several turns, small talk, and requests that no exercise covers."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shakedown.serving.tasks import (
    CONVERSATION,
    FAMILIES,
    Answer,
    Item,
    MaxTokens,
    Miss,
    generate,
    grade,
    recognise,
    respond,
)

SEEDS = st.integers(min_value=0, max_value=2**40)


def question(item: Item) -> str:
    return str(item.messages[-1]["content"])


@given(SEEDS)
@settings(max_examples=40, deadline=None)
def test_recall_asks_for_the_last_thing_that_was_said(seed: int) -> None:
    for item in generate("recall", seed=seed, n=8):
        assert [message["role"] for message in item.messages] == ["user", "assistant"] * (len(item.messages) // 2) + [
            "user"
        ]
        assert 5 <= len(item.messages) <= 13
        said = [str(message["content"]) for message in item.messages[:-1] if message["role"] == "user"]
        kind = next(text for text in said if f"is {item.key}." in text).partition("y ")[2].partition(" is ")[0]
        about = [text for text in said if f"y {kind} is " in text]
        assert f" is {item.key}." in about[-1]
        assert 1 <= len(about) <= 2


def test_corrections_happen() -> None:
    texts = [str(message["content"]) for item in generate("recall", seed=1, n=60) for message in item.messages]
    assert sum(text.startswith(("Actually", "Correction", "No, wait", "I was wrong", "Sorry")) for text in texts) > 5


@pytest.mark.parametrize(
    ("content", "right"),
    [
        ("Oslo", True),
        ("Your city is **Oslo**.", True),
        ("Yes! Your city is Oslo. Can I help you further?", True),
        ('You said that your city was "Oslo".', True),
        ("You live in Oslo.", True),
        ("Your city is Rome.", False),
    ],
)
def test_recall_is_read_out_of_a_sentence(content: str, right: bool) -> None:
    item = Item("recall", "any", 0, 0, (), "Oslo", MaxTokens(100, 100))
    assert grade(item, Answer(content=content)).right is right


@given(st.sampled_from(sorted(CONVERSATION)), SEEDS)
@settings(max_examples=80, deadline=None)
def test_conversation_is_no_exercise_and_has_one_answer(family: str, seed: int) -> None:
    for item in generate(family, seed=seed, n=12):
        assert recognise(item.messages) is None
        answer = respond(item.messages)
        assert answer is not None
        assert answer.thinking
        assert grade(item, answer).right


@given(st.sampled_from(sorted(FAMILIES)), SEEDS)
@settings(max_examples=40, deadline=None)
def test_exercises_are_answered_before_any_talk(family: str, seed: int) -> None:
    for item in generate(family, seed=seed, n=4):
        answer = respond(item.messages, item.tools)
        assert answer is not None
        assert grade(item, answer).right


@pytest.mark.parametrize("family", CONVERSATION)
def test_every_phrasing_has_its_turn(family: str) -> None:
    phrasings = CONVERSATION[family].templates
    items = generate(family, seed=1, n=len(phrasings))
    assert {item.template for item in items} == set(phrasings)
    assert len(set(phrasings)) == len(phrasings) >= 8


def test_unknown_requests_hardly_ever_repeat() -> None:
    texts = [question(item) for item in generate("unknown", seed=1, n=1000)]
    assert len(set(texts)) > 900


def test_the_honest_answer_to_an_exercise_is_a_refusal() -> None:
    exercise = generate("arithmetic", seed=1, n=1)[0]
    honest = respond(generate("unknown", seed=1, n=1)[0].messages)
    assert honest is not None
    assert grade(exercise, honest).miss is Miss.REFUSED


@pytest.mark.parametrize(
    "text", ["hello", "Hi!", "Hey, who are you?", "what can you do", "Thanks.", "My city is Rome."]
)
def test_small_talk_is_recognised_in_its_spellings(text: str) -> None:
    answer = CONVERSATION["chat"].solve([{"role": "user", "content": text}], ())
    assert answer is not None
    assert 1 <= len(answer.content) <= 100


def test_small_talk_within_a_request_is_none() -> None:
    assert CONVERSATION["chat"].solve([{"role": "user", "content": "Hello, write a poem."}], ()) is None
