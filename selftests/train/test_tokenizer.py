"""The tokenizer: every text comes back, mark-up is single, words stay apart."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer

from shakedown.serving.tasks.words import LETTERS, WORDS
from train.markers import CONTROL, END_ID, MARKERS, PAD_ID
from train.tokenizer import VOCABULARY
from train.tokens import Encoder


@pytest.fixture(scope="module")
def tokenizer(tokenizer_folder: Path) -> Tokenizer:
    return Tokenizer.from_file(str(tokenizer_folder / "tokenizer.json"))


@pytest.fixture(scope="module")
def encoder(tokenizer_folder: Path) -> Encoder:
    return Encoder(tokenizer_folder / "tokenizer.json")


TEXT = st.text(st.characters(codec="utf-8") | st.sampled_from(" \n\t\x1c\x85\u180e\u3000aZ9_東🚀é"), max_size=60)


@given(text=TEXT)
@settings(max_examples=300, deadline=None)
def test_every_text_comes_back_and_the_fast_encoder_agrees(text: str, tokenizer: Tokenizer, encoder: Encoder) -> None:
    ids = tokenizer.encode(text, add_special_tokens=False).ids
    assert tokenizer.decode(ids, skip_special_tokens=False) == text
    assert encoder.text(text) == ids


def test_mark_up_has_the_first_ids_and_only_control_is_left_out_of_text(tokenizer: Tokenizer) -> None:
    assert tokenizer.get_vocab_size() == VOCABULARY
    assert tokenizer.encode("".join(MARKERS)).ids == list(range(len(MARKERS)))
    assert tokenizer.decode(list(range(len(MARKERS)))) == "".join(MARKERS[len(CONTROL) :])


def test_configuration_names_the_end_and_the_padding(tokenizer_folder: Path, tokenizer: Tokenizer) -> None:
    config = json.loads((tokenizer_folder / "tokenizer_config.json").read_text())
    assert tokenizer.token_to_id(config["eos_token"]) == END_ID
    assert tokenizer.token_to_id(config["pad_token"]) == PAD_ID


@pytest.mark.parametrize("text", ["417", "k7Qx2", "東京", "castle", "🚀"])
@pytest.mark.parametrize("before", [" ", "\n", '"', "(", ": "])
def test_a_text_has_the_same_tokens_wherever_it_stands(tokenizer: Tokenizer, text: str, before: str) -> None:
    alone, within = tokenizer.encode(text).ids, tokenizer.encode(f"{before}{text} x").ids
    assert within[-len(alone) - 2 : -2] == alone


def test_digits_and_letters_are_reachable_one_by_one(tokenizer: Tokenizer) -> None:
    for text in ("417", " ".join(LETTERS), " ".join(LETTERS.upper()), "北海道"):
        tokens = tokenizer.encode(text).tokens
        assert len(tokens) == len(text) or text == "北海道"


def test_common_words_are_few_tokens(tokenizer: Tokenizer) -> None:
    lengths = [len(tokenizer.encode(word).ids) for word in WORDS]
    assert max(lengths) <= 4
    assert sum(length == 1 for length in lengths) > len(WORDS) / 2
