"""A tokenizer learned from a few exercises, and the Python that has PyTorch."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from shakedown.embedded.machine import ENGINE_VARIABLE
from train import tokenizer

ROOT = Path(__file__).parents[2]
TRAIN = ROOT / "train"
MODEL = ROOT / "shakedown" / "embedded" / "model"


@pytest.fixture(scope="session")
def tokenizer_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tokenizer")
    tokenizer.make(folder, seed=1, documents=150)
    return folder


@pytest.fixture(scope="session")
def engine_python() -> Path:
    return Path(os.environ.get(ENGINE_VARIABLE) or ROOT / ".venv-engine" / "bin" / "python")
