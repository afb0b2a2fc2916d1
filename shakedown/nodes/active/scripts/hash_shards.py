# revision: 1
"""SHA-256 of every shard in a folder, and how fast they were read from where they lie; as JSON.

Arguments: FOLDER, readers at the same time. The kernel is asked to forget a shard before it is read and after it: what
is measured is the disk and not the memory, and the memory is left to the model.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

BLOCK = 8 << 20


def digest(file: Path) -> tuple[str, int]:
    """SHA-256 in hexadecimal, and bytes read."""
    total, size = hashlib.sha256(), 0
    descriptor = os.open(file, os.O_RDONLY)
    try:
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        while block := os.read(descriptor, BLOCK):
            total.update(block)
            size += len(block)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(descriptor)
    return total.hexdigest(), size


def main() -> None:
    """Print the answer."""
    folder, readers = Path(sys.argv[1]), int(sys.argv[2])
    shards = sorted(folder.glob("*.safetensors"))
    began = time.monotonic()
    with ThreadPoolExecutor(readers) as pool:  # hashing lets other threads run
        found = list(pool.map(digest, shards))
    json.dump(
        {
            "digests": {shard.name: digest for shard, (digest, _) in zip(shards, found, strict=True)},
            "bytes": sum(size for _, size in found),
            "seconds": time.monotonic() - began,
        },
        sys.stdout,
        sort_keys=True,
    )


if __name__ == "__main__":
    main()
