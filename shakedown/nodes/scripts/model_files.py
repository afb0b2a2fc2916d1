# revision: 2
"""A folder of safetensors: its index, the header of every shard against the shard's size, and small files' digests.

Argument: FOLDER. Printed as JSON. Of a shard only the header is read, so a hundred gigabytes take no longer than one.
The format: 8 bytes little-endian length N, N bytes of JSON, then the tensors; the largest end among ``data_offsets``
plus 8 + N is the size that the file must have. Source: https://huggingface.co/docs/safetensors/index#format
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from pathlib import Path
from typing import Any

INDEX = "model.safetensors.index.json"
CONFIG = "config.json"
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
    if not file.is_file() or not os.access(file, os.R_OK):
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
    try:
        length, raw = header(file)
    except OSError as error:
        return {"size": size, "error": f"it cannot be read: {error.strerror}"}
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
        "bytes": by_type(tensors),
        "absent": sorted(promised - set(tensors))[:SHOWN],
        "unlisted": sorted(set(tensors) - promised)[:SHOWN] if promised else [],
    }


def by_type(tensors: dict[str, Any]) -> dict[str, int]:
    """Bytes of all tensors of each type of number."""
    found: dict[str, int] = {}
    for entry in tensors.values():
        begin, end = entry["data_offsets"]
        found[entry["dtype"]] = found.get(entry["dtype"], 0) + end - begin
    return found


def config(folder: Path) -> dict[str, Any] | None:
    """The model's configuration; None where there is none that can be read as an object."""
    try:
        content = json.loads((folder / CONFIG).read_bytes())
    except (OSError, ValueError):
        return None
    return content if isinstance(content, dict) else None


def revision(folder: Path) -> str | None:
    """The commit that the folder was downloaded from, as the hub's client keeps it; None where it does not.

    In its cache the folder's own name is the commit; beside a local folder it keeps a file for each file, whose first
    line is the commit. Source: huggingface_hub, file_download.py and _local_folder.py.
    """
    real = folder.resolve()
    if real.parent.name == "snapshots":
        return real.name
    kept = folder / ".cache" / "huggingface" / "download" / (CONFIG + ".metadata")
    try:
        lines = kept.read_text().splitlines()
    except OSError:
        return None
    return lines[0].strip() if lines else None


def newest_revision(folder: Path) -> str | None:
    """What ``refs/main`` of the hub's cache says beside this snapshot; None where the folder is no snapshot."""
    real = folder.resolve()
    if real.parent.name != "snapshots":
        return None
    try:
        return (real.parent.parent / "refs" / "main").read_text().strip()
    except OSError:
        return None


def unfinished(folder: Path) -> list[str]:
    """Names of downloads that were not completed, in the hub's cache or beside a local folder."""
    real = folder.resolve()
    blobs = [real.parent.parent / "blobs"] if real.parent.name == "snapshots" else []
    places = [folder / ".cache" / "huggingface" / "download", *blobs]
    return sorted(file.name for place in places for file in place.glob("*.incomplete"))


def unreadable(folder: Path) -> dict[str, str]:
    """Files that this user cannot read, links to nothing among them -> why."""
    found = {}
    for file in sorted(folder.iterdir()):
        if file.is_symlink() and not file.exists():
            found[file.name] = "a link to nothing"
        elif file.is_file() and not os.access(file, os.R_OK):
            facts = file.stat()
            found[file.name] = "mode %o, owner %d" % (facts.st_mode & 0o7777, facts.st_uid)  # noqa: UP031 - octal
    return found


def other_weights(folder: Path) -> list[str]:
    """Weights of other formats than safetensors, which vLLM takes only where there are none of these."""
    return sorted(file.name for pattern in ("*.bin", "*.pt", "*.gguf", "*.pth") for file in folder.glob(pattern))


def look(folder: Path) -> dict[str, Any]:
    """All facts about a folder."""
    try:
        inside = sorted(file for file in folder.iterdir() if file.is_file())
    except FileNotFoundError:
        return {"folder": False}
    except OSError as error:
        return {"folder": False, "denied": f"{error.strerror}, as user {os.getuid()}"}
    facts, promised = index(folder)
    weights = [file for file in inside if file.suffix == ".safetensors"]
    small = [file for file in inside if file not in weights and file.stat().st_size <= LARGEST_SMALL_FILE]
    return {
        "folder": True,
        "user": os.getuid(),
        "index": facts,
        "shards": {file.name: shard(file, promised.get(file.name, set())) for file in weights},
        "small": {file.name: digest(file.read_bytes()) for file in small if os.access(file, os.R_OK)},
        "config": config(folder),
        "revision": revision(folder),
        "newest_revision": newest_revision(folder),
        "unfinished": unfinished(folder)[:SHOWN],
        "unreadable": unreadable(folder),
        "other_weights": other_weights(folder)[:SHOWN],
    }


if __name__ == "__main__":
    json.dump(look(Path(sys.argv[1])), sys.stdout, sort_keys=True)
