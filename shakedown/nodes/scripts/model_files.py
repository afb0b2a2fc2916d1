# revision: 1
"""A folder of safetensors: its index, the header of every shard against the shard's size, and small files' digests.

Argument: FOLDER. Printed as JSON. Of a shard only the header is read, so a hundred gigabytes take no longer than one.
The format: 8 bytes little-endian length N, N bytes of JSON, then the tensors; the largest end among ``data_offsets``
plus 8 + N is the size that the file must have. Source: https://huggingface.co/docs/safetensors/index#format
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

INDEX = "model.safetensors.index.json"
LONGEST_HEADER = 100 * 1024 * 1024
"""Bytes; the limit of the safetensors library."""
LARGEST_SMALL_FILE = 64 * 1024 * 1024
"""Bytes; tokenizers are the largest files that are no weights."""
SHOWN = 3


def digest(data: bytes) -> str:
    """SHA-256, hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def index(folder: Path) -> tuple[dict[str, Any] | None, dict[str, set[str]]]:
    """Facts about the index, and the tensors that it promises of each shard; None and nothing where there is none."""
    file = folder / INDEX
    if not file.is_file():
        return None, {}
    raw = file.read_bytes()
    content = json.loads(raw)
    promised: dict[str, set[str]] = {}
    for tensor, shard in content["weight_map"].items():
        promised.setdefault(shard, set()).add(tensor)
    total = content.get("metadata", {}).get("total_size")
    return {"sha256": digest(raw), "total_size": total, "shards": sorted(promised)}, promised


def header(file: Path) -> tuple[int, bytes]:
    """Declared length of a shard's header, and the bytes that are there of it."""
    size = file.stat().st_size
    with file.open("rb") as opened:
        length = int.from_bytes(opened.read(8), "little")
        return length, opened.read(min(length, LONGEST_HEADER, max(0, size - 8)))


def shard(file: Path, promised: set[str]) -> dict[str, Any]:
    """Facts about one shard, or ``error`` where its header cannot be read."""
    size = file.stat().st_size
    length, raw = header(file)
    if size < 8 or len(raw) < length:
        return {"size": size, "error": f"its header is said to take {length} bytes, the file has {size}"}
    try:
        tensors = json.loads(raw)
    except ValueError as error:
        return {"size": size, "error": f"its header is no JSON: {error}"}
    tensors.pop("__metadata__", None)
    return {
        "size": size,
        "must_be": 8 + length + max([entry["data_offsets"][1] for entry in tensors.values()] or [0]),
        "header_sha256": digest(raw),
        "tensors": len(tensors),
        "absent": sorted(promised - set(tensors))[:SHOWN],
        "unlisted": sorted(set(tensors) - promised)[:SHOWN] if promised else [],
    }


def look(folder: Path) -> dict[str, Any]:
    """All facts about a folder."""
    if not folder.is_dir():
        return {"folder": False}
    facts, promised = index(folder)
    files = sorted(file for file in folder.iterdir() if file.is_file())
    weights = [file for file in files if file.suffix == ".safetensors"]
    small = [file for file in files if file not in weights and file.stat().st_size <= LARGEST_SMALL_FILE]
    return {
        "folder": True,
        "index": facts,
        "shards": {file.name: shard(file, promised.get(file.name, set())) for file in weights},
        "small": {file.name: digest(file.read_bytes()) for file in small},
    }


if __name__ == "__main__":
    json.dump(look(Path(sys.argv[1])), sys.stdout, sort_keys=True)
