"""Exercises: right, varied, and without what is held out."""

from __future__ import annotations

import random
from itertools import islice
from pathlib import Path

import pytest

from shakedown.serving.tasks import CONVERSATION, respond
from train import augment, heldout, mix
from train.families import ALL
from train.packing import IGNORED, batch, row
from train.samples import Sample, sample, validation
from train.tokens import Encoder
from train.workers import documents


def drawn(family: str, count: int = 60, *, unseen: bool = False) -> list[Sample]:
    rng = random.Random(f"test {family}")
    return [sample(family, rng, thinking=number % 2 == 0, unseen=unseen) for number in range(count)]


@pytest.mark.parametrize("family", ALL)
def test_the_answer_is_the_pools_answer_to_the_whole_conversation(family: str) -> None:
    polite = (*augment._OPENINGS, "Please ")
    for exercise in drawn(family):
        last = exercise.messages[-1]
        dressed = last["role"] == "user" and str(last["content"]).startswith(polite)
        if family in CONVERSATION or not dressed:  # the pool knows bare questions only
            assert respond(exercise.messages, exercise.tools or ()) == exercise.answer


@pytest.mark.parametrize("family", ["arithmetic", "tool-abstention", "counting"])
def test_training_and_validation_have_no_pair_of_operands_in_common(family: str) -> None:
    seen = {heldout.operands(exercise.messages) for exercise in drawn(family, 200)} - {None}
    kept = {heldout.operands(exercise.messages) for exercise in drawn(family, 400, unseen=True)} - {None}
    assert len(seen) > 20
    assert kept
    assert not seen & kept


def test_one_pair_in_thirteen_is_held_out_in_either_order() -> None:
    pairs = [(a, b) for a in range(0, 999, 7) for b in range(a, 999, 7)]
    assert sum(map(heldout.held_out, pairs)) / len(pairs) == pytest.approx(1 / heldout.ONE_IN, rel=0.1)
    questions = [
        [{"role": "user", "content": text}]
        for text in ("What is 105 + 931?", "Subtract 105 from 931.", "931 - 105 = ?")
    ]
    assert {heldout.operands(question) for question in questions} == {(105, 931)}
    assert heldout.operands([{"role": "user", "content": "What is 5 + 931?"}]) is None
    assert heldout.operands([{"role": "user", "content": "Add 1, 2 and 3."}]) is None


def test_everything_that_stands_around_a_question_occurs_as_often_as_said() -> None:
    exercises = drawn("exact-word", 3000)
    system = sum(e.messages[0]["role"] == "system" for e in exercises) / len(exercises)
    earlier = sum(len([m for m in e.messages if m["role"] == "user"]) > 1 for e in exercises) / len(exercises)
    assert system == pytest.approx(augment.SYSTEM_SHARE, abs=0.04)
    assert earlier == pytest.approx(augment.EARLIER_SHARE, abs=0.03)
    assert any(e.tools and e.answer.thinking.startswith("No tool is needed.") for e in exercises)
    assert any(str(e.messages[-1]["content"]).startswith("Please ") for e in exercises)


def test_validation_is_the_same_for_a_seed() -> None:
    def first(seed: int) -> list[Sample]:
        return list(islice(validation("reverse", seed, thinking=True), 5))

    assert first(3) == first(3) != first(4)


def test_the_mix_gives_weak_families_more_within_bounds() -> None:
    families = tuple(ALL)
    strong, weak = (
        mix.adapted(families, dict.fromkeys(families, 1.0)),
        mix.adapted(families, dict.fromkeys(families, 0.0)),
    )
    assert strong == mix.base(families)
    assert weak == pytest.approx([(1 + mix.BOOST) * weight for weight in strong])
    assert set(mix.BASE) <= set(families)


def test_weights_decide_what_is_drawn(tokenizer_folder: Path) -> None:
    encoder = Encoder(tokenizer_folder / "tokenizer.json")
    only = [float(family == "counting") for family in ALL]
    made = list(islice(documents(random.Random(1), only, encoder), 10))
    assert len({len(ids) for ids, _ in made}) > 1
    assert all(0 < prompt < len(ids) for ids, prompt in made)


def test_a_row_holds_documents_apart_and_a_batch_asks_for_their_answers_only() -> None:
    packed = row([([5, 6, 7, 8], 2), ([9, 10, 11], 1)], 600)
    joined = batch([packed, packed])
    assert joined.positions[:9].tolist() == [0, 1, 2, 3, 0, 1, 2, 0, 1]
    assert joined.starts[:4].tolist() == [0, 4, 7, 263]
    assert joined.starts[-1] == len(joined.ids) == 1200
    asked = joined.targets != IGNORED
    assert joined.targets[asked].tolist() == [7, 8, 10, 11] * 2
    assert joined.wanted[asked].tolist() == [1, 2, 4, 5, 601, 602, 604, 605]
    assert (joined.ids[joined.wanted[asked] + 1] == joined.targets[asked]).all()
