"""Cut a safetensors checkpoint into shards: ``python -m shakedown.embedded.shards SOURCE TARGET --shards 39``.

Large models come in many shards, and a deployment fails in its own ways while they load; so the small model here is
cut as finely as a large one. Works on the file format alone (8 bytes of header length, JSON header, raw data) and
therefore keeps every tensor bit for bit and needs no package.
"""

from __future__ import annotations

import argparse
import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

INDEX = "model.safetensors.index.json"


@dataclass(frozen=True)
class Tensor:
    """One tensor as the file holds it: name, header fields, raw bytes."""

    name: str
    dtype: str
    shape: list[int]
    data: bytes


def read(path: Path) -> Iterator[Tensor]:
    """The tensors of one safetensors file, in the order of their data."""
    raw = path.read_bytes()
    start = 8 + int.from_bytes(raw[:8], "little")
    header: dict[str, Any] = json.loads(raw[8:start])
    header.pop("__metadata__", None)
    for name, entry in sorted(header.items(), key=lambda item: item[1]["data_offsets"][0]):
        begin, end = entry["data_offsets"]
        yield Tensor(name, entry["dtype"], entry["shape"], raw[start + begin : start + end])


def write(path: Path, tensors: list[Tensor]) -> None:
    """Write one safetensors file; the header is padded so that the data begin at a multiple of 8 bytes."""
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    offset = 0
    for tensor in tensors:
        end = offset + len(tensor.data)
        header[tensor.name] = {"dtype": tensor.dtype, "shape": tensor.shape, "data_offsets": [offset, end]}
        offset = end
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(len(text).to_bytes(8, "little") + text + b"".join(tensor.data for tensor in tensors))


def cut(tensors: list[Tensor], shards: int) -> list[list[Tensor]]:
    """Cut a list into consecutive, non-empty parts of about equal size in bytes.

    Raises:
        ValueError: fewer tensors than shards.
    """
    if len(tensors) < shards:
        raise ValueError(f"{len(tensors)} tensors cannot fill {shards} shards")
    parts: list[list[Tensor]] = []
    rest = list(tensors)
    for left in range(shards, 0, -1):
        target = sum(len(tensor.data) for tensor in rest) / left
        part = [rest.pop(0)]
        while len(rest) >= left and sum(len(tensor.data) for tensor in part) + len(rest[0].data) / 2 <= target:
            part.append(rest.pop(0))
        parts.append(part)
    parts[-1].extend(rest)
    return parts


def split(source: Path, target: Path, shards: int) -> None:
    """Write the checkpoint of ``source`` to ``target`` in that many shards, with its other files beside it."""
    weight_map: dict[str, str] = json.loads((source / INDEX).read_text())["weight_map"]
    tensors = [tensor for file in sorted(set(weight_map.values())) for tensor in read(source / file)]
    target.mkdir(parents=True, exist_ok=True)
    placed: dict[str, str] = {}
    for number, part in enumerate(cut(tensors, shards), start=1):
        file = f"model-{number:05d}-of-{shards:05d}.safetensors"
        write(target / file, part)
        placed |= {tensor.name: file for tensor in part}
    index = {"metadata": {"total_size": sum(len(tensor.data) for tensor in tensors)}, "weight_map": placed}
    (target / INDEX).write_text(json.dumps(index, indent=1, sort_keys=True) + "\n")
    for path in source.iterdir():
        if path.suffix in {".json", ".jinja"} and path.name != INDEX:
            shutil.copyfile(path, target / path.name)


def main() -> None:
    """Entry point."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("source", type=Path)
    parser.add_argument("target", type=Path)
    parser.add_argument("--shards", type=int, default=39)
    arguments = parser.parse_args()
    split(arguments.source, arguments.target, arguments.shards)


if __name__ == "__main__":
    main()
