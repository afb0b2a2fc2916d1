"""Exercises for validation, made before training; free of PyTorch, so that the processes that make them start fast."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from itertools import islice
from multiprocessing import get_context
from pathlib import Path

from train.families import ALL
from train.packing import Document
from train.plan import Plan
from train.samples import validation
from train.tokens import Encoder

MODES = {"thinking": True, "plain": False}
Documents = dict[str, dict[str, list[Document]]]
"""By family and mode."""


def prepare(plan: Plan, sets: Sequence[tuple[int, int]], longest: int) -> list[Documents]:
    """Sets of exercises of every family and mode, made by as many processes as those of training.

    Args:
        plan: of the run.
        sets: seed of each, and exercises of each family and mode in it.
        longest: longer documents are passed over, tokens.
    """
    wanted = [(plan.tokenizer, longest, *one, family, mode) for one in sets for family in ALL for mode in MODES]
    with ProcessPoolExecutor(plan.workers, get_context("spawn")) as pool:
        made = pool.map(_documents, wanted)
        return [{family: {mode: next(made) for mode in MODES} for family in ALL} for _ in sets]


def _documents(wanted: tuple[Path, int, int, int, str, str]) -> list[Document]:
    tokenizer, longest, seed, items, family, mode = wanted
    encoder = _encoder(tokenizer)
    encoded = (encoder.sample(exercise) for exercise in validation(family, seed, thinking=MODES[mode]))
    return list(islice((document for document in encoded if len(document[0]) <= longest), items))


@cache
def _encoder(tokenizer: Path) -> Encoder:
    return Encoder(tokenizer)
