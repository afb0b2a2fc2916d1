"""Evaluation against a server whose answers are known, and the card that is written from it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from shakedown.embedded.shards import INDEX
from shakedown.serving.tasks import FAMILIES, Answer, generate, solve
from shakedown.simulator.run import running_simulator
from shakedown.simulator.settings import MODEL_FOLDER
from train import wild
from train.asking import Said
from train.bounds import lower_bound
from train.card import text, write
from train.chat import TEMPLATE
from train.evaluate import Options, digest, evaluate, score
from train.families import ALL
from train.shape import Shape

RUN: dict[str, Any] = {
    "shape": vars(Shape()),
    "tokens": 4_200_000_000,
    "steps": 64_000,
    "learned_s": 1500.0,
    "wall_s": 1700.0,
    "device": "GPU",
    "seed": 1,
    "revision": "abc",
    "python": "3.12.1",
    "packages": {"torch": "2.11"},
}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory, tokenizer_folder: Path) -> Path:
    """A model folder with the template and a tokenizer of ours; the simulator needs no more."""
    folder = tmp_path_factory.mktemp("model")
    for file in (TEMPLATE, tokenizer_folder / "tokenizer.json", tokenizer_folder / "tokenizer_config.json"):
        shutil.copyfile(file, folder / file.name)
    (folder / INDEX).write_text(json.dumps({"weight_map": {"a": "one.safetensors", "b": "two.safetensors"}}))
    (folder / "one.safetensors").write_bytes(b"1")
    (folder / "two.safetensors").write_bytes(b"2")
    return folder


@pytest.fixture(scope="module")
def accuracy(tmp_path_factory: pytest.TempPathFactory, model: Path) -> Path:
    """What an evaluation of the simulator says, which solves the pool."""
    out = tmp_path_factory.mktemp("accuracy") / "accuracy.json"
    with running_simulator(ttft_s=0.0, itl_s=0.0, model=model) as simulator:
        evaluate(Options(simulator.base_url, "shakedown-tiny", model, out, items=8))
    return out


def test_a_model_that_knows_the_pool_is_right_everywhere(accuracy: Path) -> None:
    measured = json.loads(accuracy.read_text())
    assert set(measured["pool"]) == set(ALL)
    for family, modes in measured["pool"].items():
        for mode, found in modes.items():
            if family in FAMILIES:
                assert found["right"] == found["asked"] == 8, (family, mode, found)
                assert found["lower"] == pytest.approx(lower_bound(8, 8))
            assert found["reasoned"] == (8 if mode == "thinking" else 0)
            assert found["markup"] == 0
            assert found["streamed"] == found["streamed_same"] == 1
            assert found["alone"] == found["alone_same"] == 3
    assert set(measured["wild"]) == set(wild.FAMILIES)
    assert set(measured["speed"]) == {"1", "8"}


def test_what_has_been_measured_is_not_asked_again(accuracy: Path, model: Path, tmp_path: Path) -> None:
    copy = tmp_path / "accuracy.json"
    shutil.copyfile(accuracy, copy)
    evaluate(Options("http://127.0.0.1:9", "shakedown-tiny", model, copy, items=8))  # nobody listens there
    assert json.loads(copy.read_text()) == json.loads(accuracy.read_text())


def test_damage_is_counted() -> None:
    items = generate("nonce", seed=1, n=4)
    answers = [solve(item.messages) or Answer() for item in items]
    answers[1] = Answer(content="<think>x")
    answers[2] = Answer(content="I am a small test model and I cannot answer that.")
    found = score(items, [Said(answer, 10) for answer in answers])
    assert (found.right, found.markup, found.fallback, found.reasoned, found.tokens) == (2, 1, 1, 2, 10)
    assert found.misses == {"refused": 1, "wrong": 1}
    assert [wrong["item"] for wrong in found.wrong] == [items[1].id, items[2].id]


@pytest.mark.parametrize(("right", "asked", "lower"), [(0, 10, 0.0), (10, 10, 0.05**0.1), (59, 59, 0.9505)])
def test_the_bound_is_the_exact_one(right: int, asked: int, lower: float) -> None:
    assert lower_bound(right, asked) == pytest.approx(lower, abs=1e-4)


@pytest.mark.parametrize("family", wild.FAMILIES)
def test_wild_phrasings_are_not_in_the_pool(family: str) -> None:
    items = wild.items(family, seed=1, n=12)
    assert len({item.template for item in items}) >= 6
    assert all(solve(item.messages) is None for item in items)
    assert len({item.messages[-1]["content"] for item in items}) == 12


def test_the_card_holds_the_figures_of_its_sources(accuracy: Path, model: Path, tmp_path: Path) -> None:
    record = tmp_path / "run.json"
    record.write_text(json.dumps(RUN))
    write(record, accuracy, model)
    card = (model / "README.md").read_text()
    assert card == text(RUN, json.loads(accuracy.read_text()))
    for said in (digest(model), "4.20 billion tokens", "8,666,752", "| arithmetic | 8 / 8 (68.8%) | 8 / 8 (68.8%) |"):
        assert said in card


def test_a_card_of_other_weights_is_refused(accuracy: Path, model: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    shutil.copytree(model, other)
    (other / "two.safetensors").write_bytes(b"3")
    record = tmp_path / "run.json"
    record.write_text(json.dumps(RUN))
    with pytest.raises(ValueError, match="other weights"):
        write(record, accuracy, other)


def test_the_digest_covers_every_shard_of_the_committed_model() -> None:
    assert len(digest(MODEL_FOLDER)) == 64
    assert digest(MODEL_FOLDER) == digest(MODEL_FOLDER)
