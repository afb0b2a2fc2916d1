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
    assert folder.weights == json.loads((model / "model.safetensors.index.json").read_text())["metadata"]["total_size"]
    assert folder.architectures == ("Qwen3MoeForCausalLM",)
    assert (folder.quantisation, folder.revision, folder.unreadable) == (None, None, {})
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


def test_a_download_tells_its_commit_and_what_is_unfinished(model: Path) -> None:
    kept = model / ".cache" / "huggingface" / "download"
    kept.mkdir(parents=True)
    (kept / "config.json.metadata").write_text(f"{'c' * 40}\netag\n1.0\n")
    (kept / "5f2c.incomplete").touch()
    folder = look(model)
    assert folder.revision == "c" * 40
    assert folder.newest_revision is None
    assert folder.unfinished == ("5f2c.incomplete",)


def test_a_snapshot_of_the_hubs_cache_is_its_commit(model: Path, tmp_path: Path) -> None:
    repository = tmp_path / "models--org--name"
    snapshot = repository / "snapshots" / ("d" * 40)
    snapshot.parent.mkdir(parents=True)
    shutil.move(model, snapshot)
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text("e" * 40)
    (snapshot / "tokenizer.json").unlink()
    (snapshot / "tokenizer.json").symlink_to(repository / "blobs" / "gone")
    folder = look(snapshot)
    assert (folder.revision, folder.newest_revision) == ("d" * 40, "e" * 40)
    assert folder.unreadable == {"tokenizer.json": "a link to nothing"}


def test_weights_of_another_format_are_named(model: Path) -> None:
    for file in model.glob("*.safetensors"):
        file.unlink()
    (model / "pytorch_model.bin").touch()
    folder = look(model)
    assert not folder.shards
    assert folder.other_weights == ("pytorch_model.bin",)


def test_the_quantisation_of_the_inner_model_counts(model: Path) -> None:
    config = {"text_config": {"quantization_config": {"quant_method": "fp8"}}}
    (model / "config.json").write_text(json.dumps(config))
    assert look(model).quantisation == "fp8"
