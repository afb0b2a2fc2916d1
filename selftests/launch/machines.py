"""Two nodes that are this machine, with a Python that only writes down how it was called."""

from __future__ import annotations

from pathlib import Path

from selftests.inventory.files import GOOD
from shakedown.inventory.load import load_deployment
from shakedown.inventory.model import Deployment

_RECORDER = """\
#!/bin/sh
exec 9>> {folder}/calls
for word in "$VLLM_HOST_IP" "$VLLM_API_KEY" "$@"; do printf '%s\\0' "$word" >&9; done
printf '\\n' >&9
echo "started with $#" "words"
echo "API_KEY=hunter2" >&2
exit {status}
"""


def local_pair(folder: Path, *, more: str = "", status: int = 0) -> Deployment:
    """A deployment of two nodes, both this machine.

    Args:
        folder: where the Python lies, and ``calls``: a line for each call, its words ended by NUL.
        more: end of the deployment file; it begins in the table ``[serve]``.
        status: exit status of the Python.
    """
    python = folder / "python"
    python.write_text(_RECORDER.format(folder=folder, status=status))
    python.chmod(0o755)
    file = folder / "deployment.toml"
    file.write_text(GOOD + more)
    declared = load_deployment(file)
    here = {"ssh": None, "local": True, "python": str(python)}  # a file refuses two nodes that are one machine
    return declared.model_copy(update={"node": tuple(node.model_copy(update=here) for node in declared.node)})


def calls(folder: Path) -> list[list[str]]:
    """The words of each call, in the order of calls: VLLM_HOST_IP, VLLM_API_KEY, then the arguments."""
    file = folder / "calls"
    if not file.exists():
        return []
    return [line.split("\0")[:-1] for line in file.read_text().splitlines()]
