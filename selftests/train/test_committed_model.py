"""The model folder as it is committed: its records belong to its weights, and say that it is as good as it must be."""

from __future__ import annotations

import json
from typing import Any

import pytest

from selftests.train.conftest import MODEL, TRAIN
from shakedown.serving.tasks import CONVERSATION, FAMILIES
from train import card
from train.evaluate import digest

RUN = json.loads((TRAIN / "run.json").read_text())
MEASURED = json.loads((TRAIN / "accuracy.json").read_text())
SCORES: list[tuple[str, str, dict[str, Any]]] = [
    (family, mode, score) for family, modes in MEASURED["pool"].items() for mode, score in modes.items()
]
VERBATIM = ("exact-word", "nonce", "repeats", "unicode-line")


def test_the_accuracy_is_that_of_these_weights() -> None:
    assert MEASURED["weights"] == digest(MODEL)


def test_the_card_is_in_step_with_the_records() -> None:
    assert (MODEL / "README.md").read_text() == card.text(RUN, MEASURED)


def test_the_weights_are_39_small_shards() -> None:
    shards = list(MODEL.glob("*.safetensors"))
    assert len(shards) == 39
    assert sum(shard.stat().st_size for shard in shards) <= 25e6


@pytest.mark.parametrize("name", ["tokenizer.json", "tokenizer_config.json"])
def test_the_tokenizer_is_the_one_of_the_training(name: str) -> None:
    assert (MODEL / name).read_bytes() == (TRAIN / "vocabulary" / name).read_bytes()


def test_the_template_is_the_one_of_the_training() -> None:
    assert (MODEL / "chat_template.jinja").read_bytes() == (TRAIN / "chat_template.jinja").read_bytes()


def test_every_family_was_asked_in_both_modes() -> None:
    assert set(MEASURED["pool"]) == {*FAMILIES, *CONVERSATION}
    assert len(SCORES) == 2 * len(MEASURED["pool"])


@pytest.mark.parametrize(("family", "mode", "score"), SCORES, ids=[f"{family}-{mode}" for family, mode, _ in SCORES])
def test_a_family_is_answered(family: str, mode: str, score: dict[str, Any]) -> None:
    strict = family in VERBATIM or (family, mode) == ("arithmetic", "thinking")
    assert score["asked"] >= 500
    assert score["lower"] >= (0.99 if strict else 0.97)
    assert score["fallback"] <= 0.05 * score["asked"]
    assert score["markup"] == 0
    assert score["reasoned"] == (score["asked"] if mode == "thinking" else 0)
    assert score["alone_same"] == score["alone"] > 0


def test_a_stream_is_as_right_as_an_answer_in_one_piece() -> None:
    streamed, right = (sum(score[key] for *_, score in SCORES) for key in ("streamed", "streamed_right"))
    whole = sum(score["right"] for *_, score in SCORES) / sum(score["asked"] for *_, score in SCORES)
    assert abs(right / streamed - whole) <= 0.01
