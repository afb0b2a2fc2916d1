"""The model is cut without a change, and the one in the repository is whole."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from shakedown.embedded import server, shards
from shakedown.embedded.machine import MODEL
from shakedown.embedded.shards import INDEX, Tensor


def checkpoint(folder: Path, sizes: list[int]) -> list[Tensor]:
    """A checkpoint of one file whose tensors have those sizes in bytes."""
    tensors = [Tensor(f"t{number}", "U8", [size], bytes([number]) * size) for number, size in enumerate(sizes)]
    folder.mkdir()
    shards.write(folder / "model.safetensors", tensors)
    (folder / INDEX).write_text(json.dumps({"weight_map": {tensor.name: "model.safetensors" for tensor in tensors}}))
    (folder / "config.json").write_text("{}")
    return tensors


@pytest.mark.parametrize("sizes", [[8] * 39, [1] * 200, [10_000, *[1] * 60], [*[1] * 60, 10_000]])
def test_every_tensor_is_found_again_in_one_of_39_shards(sizes: list[int], tmp_path: Path) -> None:
    tensors = checkpoint(tmp_path / "source", sizes)
    shards.split(tmp_path / "source", tmp_path / "target", 39)
    files = sorted((tmp_path / "target").glob("*.safetensors"))
    assert len(files) == 39
    assert [tensor for file in files for tensor in shards.read(file)] == tensors
    index = json.loads((tmp_path / "target" / INDEX).read_text())
    assert {name: file.name for file in files for name in (t.name for t in shards.read(file))} == index["weight_map"]
    assert (tmp_path / "target" / "config.json").exists()


def test_too_few_tensors_are_refused(tmp_path: Path) -> None:
    checkpoint(tmp_path / "source", [8] * 38)
    with pytest.raises(ValueError, match="38 tensors cannot fill 39 shards"):
        shards.split(tmp_path / "source", tmp_path / "target", 39)


def test_the_model_in_the_repository_is_whole() -> None:
    index = json.loads((MODEL / INDEX).read_text())
    held = {tensor.name: file.name for file in MODEL.glob("*.safetensors") for tensor in shards.read(file)}
    assert held == index["weight_map"]
    assert len(set(held.values())) == server.SHARDS
    size = sum(len(tensor.data) for file in MODEL.glob("*.safetensors") for tensor in shards.read(file))
    assert size == index["metadata"]["total_size"]
