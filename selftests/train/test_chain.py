"""From exercises to a model folder, with a tiny model on the CPU: it learns, goes on, and transformers reads it."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from selftests.train.conftest import ROOT
from shakedown.serving.tasks import generate
from train.chat import Renderer
from train.families import ALL
from train.markers import END_ID
from train.tokens import Encoder

Run = Callable[..., str]
SIZE = {"layers": 2, "hidden": 64, "heads": 4, "kv_heads": 2, "head_dim": 16, "experts": 8, "expert_width": 32}
TRIAL = {"rows": 4, "row_tokens": 1024, "workers": 1, "budget": 60, "warmup_s": 0.5, "validation_items": 2}
HALF, WHOLE = 14, 24

_ASK_TRANSFORMERS = """
import json, sys
from transformers import AutoTokenizer
tokenizer = AutoTokenizer.from_pretrained(sys.argv[1])
for line in sys.stdin:
    asked = json.loads(line)
    text = tokenizer.apply_chat_template(
        asked["messages"], tools=asked["tools"], tokenize=False, add_generation_prompt=True, **asked["switch"])
    print(json.dumps([text, tokenizer.encode(text, add_special_tokens=False), tokenizer.eos_token_id]))
"""


@pytest.fixture(scope="session")
def run(engine_python: Path) -> Run:
    def run(*words: object, stdin: str | None = None) -> str:
        done = subprocess.run(
            [engine_python, *map(str, words)],
            cwd=ROOT,
            input=stdin,
            capture_output=True,
            text=True,
            env=os.environ | {"OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": "", "TOKENIZERS_PARALLELISM": "false"},
        )
        assert done.returncode == 0, done.stderr[-3000:]
        return done.stdout

    return run


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory, tokenizer_folder: Path, run: Run) -> Path:
    """Trained in two parts."""
    folder = tmp_path_factory.mktemp("trained")
    options = [f"--{name.replace('_', '-')}={value}" for name, value in (SIZE | TRIAL).items()]
    places = ["--out", folder / "out", "--checkpoint", folder / "checkpoint"]
    common = ["-m", "train", "fit", *places, "--tokenizer", tokenizer_folder / "tokenizer.json", *options]
    run(*common, "--most-steps", HALF)
    run(*common, "--most-steps", WHOLE, "--resume")
    return folder / "out"


@pytest.fixture(scope="session")
def exported(tmp_path_factory: pytest.TempPathFactory, tokenizer_folder: Path, trained: Path, run: Run) -> Path:
    folder = tmp_path_factory.mktemp("exported")
    said = run("-m", "train", "export", trained, "--tokenizer", tokenizer_folder, "--target", folder)
    assert "logits as in transformers" in said
    return folder


def test_the_record_covers_both_parts(trained: Path) -> None:
    record = json.loads((trained / "run.json").read_text())
    assert record["parts"] == len(record["commands"]) == 2
    assert record["steps"] == WHOLE
    assert record["tokens"] == WHOLE * TRIAL["rows"] * TRIAL["row_tokens"]
    assert not record["finished"]
    assert record["seed"] == 1
    assert set(record["accuracy"]) == set(ALL)
    assert record["packages"]["torch"]
    assert record["wall_s"] > record["learned_s"] > 0


def test_the_loss_falls_over_both_parts(trained: Path) -> None:
    lines = [json.loads(line) for line in (trained / "log.jsonl").read_text().splitlines()]
    assert [line["kind"] for line in lines if line["kind"] in ("begin", "end")] == ["begin", "end"] * 2
    losses = [line["loss"] for line in lines if line["kind"] == "end"]
    assert losses[1] < losses[0] < 7.3  # the logarithm of 1,536 is 7.34


def test_what_training_leaves_behind_is_few_small_files(trained: Path) -> None:
    files = list(trained.iterdir())
    assert len(files) <= 8
    assert all(file.stat().st_size < 15 * 2**20 for file in files)


def test_the_model_folder_is_complete(exported: Path) -> None:
    config = json.loads((exported / "config.json").read_text())
    generation = json.loads((exported / "generation_config.json").read_text())
    index = json.loads((exported / "model.safetensors.index.json").read_text())
    assert config["eos_token_id"] == END_ID
    assert END_ID in generation["eos_token_id"]
    assert len(set(index["weight_map"].values())) == 39
    assert {"tokenizer.json", "tokenizer_config.json", "chat_template.jinja"} <= {f.name for f in exported.iterdir()}


def test_transformers_renders_and_encodes_the_pool_as_training_does(exported: Path, run: Run) -> None:
    items = [item for family in ALL for item in generate(family, seed=11, n=3)]
    switches: list[dict[str, Any]] = [{}, {"enable_thinking": True}, {"enable_thinking": False}]
    asked: list[dict[str, Any]] = [
        {"messages": i.messages, "tools": i.tools, "switch": switch} for i in items for switch in switches
    ]
    said = run("-c", _ASK_TRANSFORMERS, exported, stdin="\n".join(map(json.dumps, asked)))
    renderer, encoder = Renderer(), Encoder(exported / "tokenizer.json")
    for question, line in zip(asked, said.splitlines(), strict=True):
        text, ids, end = json.loads(line)
        thinking = question["switch"].get("enable_thinking", True)
        assert text == renderer.prompt(question["messages"], question["tools"], thinking=thinking)
        assert ids == encoder.text(text)
        assert end == END_ID
