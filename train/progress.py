"""What has been done so far, and how it is kept: the checkpoint, the log, the record of the run."""

from __future__ import annotations

import json
import math
import platform
import subprocess
import sys
from dataclasses import asdict, dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

import torch

from train.plan import Plan
from train.shape import Shape
from train.validation import Accuracy

_CHECKPOINT = "checkpoint.pt"
_PACKAGES = ("torch", "tokenizers", "numpy", "safetensors", "jinja2")


@dataclass
class Progress:
    """Of a run, over all its parts.

    Attributes:
        steps: of the optimizer.
        tokens: that the model has seen, prompts included.
        learned_s: time of learning, which the schedule goes by.
        wall_s: time of all commands, as far as they have been written down.
        parts: commands so far, this one included.
        commands: their command lines.
        loss: cross-entropy of the last batch.
        accuracy: at the last validation, by family and mode.
    """

    steps: int = 0
    tokens: int = 0
    learned_s: float = 0.0
    wall_s: float = 0.0
    parts: int = 0
    commands: list[str] = field(default_factory=list)
    loss: float = math.inf
    accuracy: Accuracy = field(default_factory=dict)


def keep(folder: Path, progress: Progress, model: Any, optimizer: Any) -> None:
    """Write the checkpoint; a command that is killed meanwhile leaves the one before."""
    folder.mkdir(parents=True, exist_ok=True)
    content = {"progress": asdict(progress), "model": model.state_dict(), "optimizer": optimizer.state_dict()}
    torch.save(content, folder / f"{_CHECKPOINT}.new")
    (folder / f"{_CHECKPOINT}.new").replace(folder / _CHECKPOINT)


def take_up(folder: Path, model: Any, optimizer: Any, device: str) -> Progress:
    """Load the checkpoint into model and optimizer.

    Raises:
        FileNotFoundError: there is none.
    """
    content = torch.load(folder / _CHECKPOINT, map_location=device, weights_only=True)
    model.load_state_dict(content["model"])
    optimizer.load_state_dict(content["optimizer"])
    return Progress(**content["progress"])


def refuse_to_overwrite(folder: Path) -> None:
    """Make sure that no run is lost by a forgotten ``--resume``.

    Raises:
        FileExistsError: there is a checkpoint.
    """
    if (folder / _CHECKPOINT).exists():
        raise FileExistsError(f"{folder} holds a checkpoint: go on with --resume, or remove it")


class Log:
    """``log.jsonl``, an object a line, and the same for people on standard output."""

    def __init__(self, folder: Path, *, fresh: bool) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._path = folder / "log.jsonl"
        if fresh:
            self._path.write_text("")

    def write(self, kind: str, **fields: Any) -> None:
        """Add a line."""
        with self._path.open("a") as file:
            file.write(json.dumps({"kind": kind, **fields}) + "\n")
        sys.stdout.write(f"{kind}: " + ", ".join(f"{name} {_short(value)}" for name, value in fields.items()) + "\n")
        sys.stdout.flush()


def record(plan: Plan, shape: Shape, progress: Progress, *, device: str) -> None:
    """Write ``run.json``: all that is needed to say where the weights come from, and to make them again."""
    content = {
        "finished": progress.learned_s >= plan.budget_s,
        "seed": plan.seed,
        "revision": _revision(),
        "plan": {name: str(value) if isinstance(value, Path) else value for name, value in asdict(plan).items()},
        "shape": asdict(shape),
        "parameters": shape.parameters,
        "device": device,
        "python": platform.python_version(),
        "packages": {name: metadata.version(name) for name in _PACKAGES},
        **asdict(progress),
    }
    (plan.out / "run.json").write_text(json.dumps(content, indent=1) + "\n")


def _revision() -> str:
    """As git describes it; ``unknown`` outside of a repository."""
    here = Path(__file__).parent
    try:
        return subprocess.run(
            ["git", "describe", "--always", "--dirty"], cwd=here, capture_output=True, text=True, check=True
        ).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
