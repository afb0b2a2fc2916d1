"""Prompts have exactly the length asked for, whatever the tokenizer is like, and are fresh."""

from __future__ import annotations

import re
from collections.abc import Callable

import httpx
import pytest

from shakedown.errors import ServerError
from shakedown.load.target import Target
from shakedown.load.workload import prompts, server_count

TEMPLATE = 9


def words_with_their_space(text: str) -> int:
    return len(re.findall(r" ?[a-z]+|\d", text))


def space_is_a_token(text: str) -> int:
    return len(re.findall(r"[a-z]+|\d| ", text))


def three_letters_a_token(text: str) -> int:
    return len(re.findall(r"[a-z]{1,3}|\d| ", text))


def digits_in_threes(text: str) -> int:
    return len(re.findall(r" ?[a-z]+|\d{1,3}", text))


TOKENIZERS = [words_with_their_space, space_is_a_token, three_letters_a_token, digits_in_threes, len]


@pytest.mark.parametrize("length", [10, 11, 64, 257])
@pytest.mark.parametrize("tokens", TOKENIZERS, ids=lambda function: function.__name__)
def test_prompt_has_exactly_the_length_asked_for(tokens: Callable[[str], int], length: int) -> None:
    def count(text: str) -> int:
        return TEMPLATE + tokens(text)

    made = prompts(count, length, 5, seed=1)
    assert [count(text) for text in made] == [length] * 5


def test_prompts_differ_from_the_first_word_on_and_between_seeds() -> None:
    one = prompts(words_with_their_space, 64, 20, seed=1)
    other = prompts(words_with_their_space, 64, 20, seed=2)
    assert len({text[:40] for text in one + other}) == 40
    assert one == prompts(words_with_their_space, 64, 20, seed=1)


def test_prompt_shorter_than_the_template_is_refused() -> None:
    with pytest.raises(ServerError, match="template alone takes 9"):
        prompts(lambda text: TEMPLATE + len(text), 9, 1, seed=1)


def test_tokenizer_that_cannot_be_steered_is_refused() -> None:
    with pytest.raises(ServerError, match="exactly 11 tokens"):
        prompts(lambda text: 2 * len(text), 11, 1, seed=1)


@pytest.mark.parametrize(
    ("status", "body"), [(404, "{}"), (200, "no json"), (200, "{}"), (200, '{"count": null}'), (200, "[]")]
)
def test_server_that_does_not_count_is_named(status: int, body: str) -> None:
    transport = httpx.MockTransport(lambda _: httpx.Response(status, text=body))
    target = Target("http://server:1", "m")
    with (
        httpx.Client(base_url=target.base_url, transport=transport) as client,
        pytest.raises(ServerError, match="http://server:1/tokenize"),
    ):
        server_count(target, client)("x")


def test_key_stays_out_of_the_text_of_a_target() -> None:
    assert "s3cret" not in repr(Target("http://server:1", "m", "s3cret"))
