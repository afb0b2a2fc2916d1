"""Make the suite's virtual environment with exactly the pinned versions; a second call does nothing.

Standard library only: this runs with any Python >= 3.11, before anything is installed.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
INPUTS = (ROOT / "pyproject.toml", ROOT / "constraints.txt", Path(__file__))
OLDEST = (3, 11)


def main(folder: str) -> None:
    """Install the suite into ``folder`` unless its stamp says that this has been done."""
    if sys.version_info < OLDEST:
        sys.exit(
            f"shakedown needs Python >= 3.11, this is {sys.version.split()[0]}: make PYTHON=/path/to/python3.11 ..."
        )
    target = ROOT / folder
    stamp = target / ".shakedown-stamp"
    digest = hashlib.sha256(b"".join(file.read_bytes() for file in INPUTS)).hexdigest()
    if stamp.is_file() and stamp.read_text() == digest:
        return
    print(f"Installing the suite into {folder} (about 500 MB, a minute or two) ...", flush=True)  # noqa: T201
    stamp.unlink(missing_ok=True)
    venv.create(target, with_pip=True)
    pip = [str(target / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "-c", str(ROOT / "constraints.txt"), "-e", f"{ROOT}[dev]"], check=True)
    stamp.write_text(digest)


if __name__ == "__main__":
    main(sys.argv[1])
