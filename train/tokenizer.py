"""The tokenizer: byte-level BPE over the exercises, 1,536 ids."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from pathlib import Path

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

from shakedown.serving.tasks.words import WORDS
from train.chat import Renderer, completion
from train.families import ALL
from train.markers import END, MARKERS, PAD, WIRE
from train.samples import sample

VOCABULARY = 1536
CONTEXT = 4096
_ASCII_PUNCTUATION = r"!-/:-@\[-`{-~"
_CJK = r"\x{3040}-\x{30ff}\x{3400}-\x{9fff}\x{ac00}-\x{d7af}"
_PIECES = rf"[{_CJK}]|\p{{N}}|\p{{L}}+|[{_ASCII_PUNCTUATION}]+|\s+|[^\s\p{{L}}\p{{N}}{_ASCII_PUNCTUATION}]"
"""No token crosses these: one CJK character, one digit, letters, punctuation, white space, one other symbol.

White space joins no word, so that a word or a nonce has the same tokens wherever it stands and copying is easy.
"""
_LONGEST = 12
_MARKUP = re.compile("|".join(map(re.escape, MARKERS)))


def make(folder: Path, *, seed: int, documents: int) -> Tokenizer:
    """Train the tokenizer and write ``tokenizer.json`` and ``tokenizer_config.json``.

    Args:
        folder: made if it is not there.
        seed: of the exercises.
        documents: how many exercises of each family are learned from.
    """
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(_PIECES), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        special_tokens=list(MARKERS),
        max_token_length=_LONGEST,
        show_progress=False,
    )
    tokenizer.train_from_iterator(_texts(seed, documents), trainer)
    tokenizer.add_tokens([AddedToken(text, special=False, normalized=False) for text in WIRE])  # the trainer hid them
    if tokenizer.get_vocab_size() != VOCABULARY:
        raise ValueError(f"the exercises give {tokenizer.get_vocab_size()} tokens and not {VOCABULARY}")
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text(json.dumps(_CONFIG, indent=1) + "\n")
    return tokenizer


_CONFIG = {
    "tokenizer_class": "PreTrainedTokenizerFast",
    "bos_token": None,
    "eos_token": END,
    "pad_token": PAD,
    "add_prefix_space": False,
    "clean_up_tokenization_spaces": False,
    "model_max_length": CONTEXT,
}


def _texts(seed: int, documents: int) -> Iterator[str]:
    """Exercises of all families without their mark-up, and every word often enough to become few tokens."""
    rng, renderer = random.Random(seed), Renderer()
    for family in ALL:
        for number in range(documents):
            exercise = sample(family, rng, thinking=number % 2 == 0)
            prompt = renderer.prompt(exercise.messages, exercise.tools, thinking=exercise.thinking)
            yield _MARKUP.sub("", prompt + completion(exercise.answer, thinking=exercise.thinking))
    for word in WORDS:
        yield " ".join([word] * 40 + [word.capitalize()] * 4)
