"""The script that looks at a model's folder on the node, and what is made of its answer."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from shakedown.errors import EvidenceError
from shakedown.nodes.answer import python_script
from shakedown.nodes.views.model_files import ModelFolder, differing_files, parse_folder

MODEL = Path(__file__).parents[3] / "shakedown" / "embedded" / "model"
SHARDS = 39
SHARD = "model-00007-of-00039.safetensors"


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A copy of the embedded model that a test may damage."""
    return Path(shutil.copytree(MODEL, tmp_path / "it's a model"))


def look(folder: Path) -> ModelFolder:
    """What a node would answer: the command as it is sent, in a shell."""
    command = python_script("model_files", sys.executable, str(folder))
    done = subprocess.run(["sh", "-c", command.text], capture_output=True, text=True, check=True)
    return parse_folder(json.loads(done.stdout))


def test_a_whole_model_has_no_problem(model: Path) -> None:
    folder = look(model)
    assert folder.exists
    assert not folder.problems
    assert not folder.missing
    assert len(folder.promised) == len(folder.whole) == SHARDS
    assert folder.weights == sum(file.stat().st_size for file in model.glob("*.safetensors"))
    assert "config.json" in folder.small
    assert "README.md" not in folder.small


def test_a_shard_that_was_cut_off_is_named(model: Path) -> None:
    file = model / SHARD
    size = file.stat().st_size
    with file.open("r+b") as opened:
        opened.truncate(size - 1)
    folder = look(model)
    assert folder.problems == {SHARD: f"its header describes {size} bytes, the file has {size - 1}"}
    assert SHARD not in folder.whole


@pytest.mark.parametrize("left", [0, 5, 100])
def test_a_shard_without_a_whole_header_is_named(model: Path, left: int) -> None:
    with (model / SHARD).open("r+b") as opened:
        opened.truncate(left)
    assert f"the file has {left}" in look(model).problems[SHARD]


def test_a_header_of_impossible_length_is_not_read(model: Path) -> None:
    (model / SHARD).write_bytes(b"\xff" * 7 + b"\x0f" + b"{}")
    assert "its header is said to take" in look(model).problems[SHARD]


def test_a_header_that_is_no_json_is_named(model: Path) -> None:
    (model / SHARD).write_bytes((4).to_bytes(8, "little") + b"nope")
    assert "no JSON" in look(model).problems[SHARD]


def test_a_missing_shard_is_named(model: Path) -> None:
    (model / SHARD).unlink()
    assert look(model).missing == (SHARD,)


def test_a_shard_of_another_index_is_named(model: Path) -> None:
    other = "model-00008-of-00039.safetensors"
    shutil.copy(model / other, model / SHARD)
    assert "the index promises tensors that are not in it" in look(model).problems[SHARD]


def test_no_folder_is_said_so(tmp_path: Path) -> None:
    assert not look(tmp_path / "nothing").exists


def test_a_model_without_an_index_promises_nothing(model: Path) -> None:
    (model / "model.safetensors.index.json").unlink()
    folder = look(model)
    assert folder.promised == ()
    assert not folder.problems


def test_only_differences_are_told() -> None:
    folders = {"a": {"x": "1", "y": "2", "z": "3"}, "b": {"x": "1", "y": "9"}}
    assert differing_files(folders) == {"y": "a: 2, b: 9", "z": "a: 3, b: not there"}
    assert differing_files(folders, all_have=True) == {"y": "a: 2, b: 9"}


@pytest.mark.parametrize("answer", [{}, {"folder": True}, {"folder": True, "index": None, "shards": 1, "small": {}}])
def test_an_answer_that_lacks_something_is_refused(answer: dict[str, object]) -> None:
    with pytest.raises(EvidenceError):
        parse_folder(answer)
