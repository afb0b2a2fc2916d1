"""The deployment that `simulated` stands for: one simulated server, two recorded nodes."""

from __future__ import annotations

from pathlib import Path

from shakedown.inventory.load import load_deployment
from shakedown.inventory.model import Deployment
from shakedown.outcomes import Stage

FILE = Path(__file__).parent / "deployment.toml"
BUNDLES = Path(__file__).parent / "bundles"


def simulated_deployment(base_url: str) -> Deployment:
    """The declared pair with the address the simulator really got."""
    planned = load_deployment(FILE)
    return planned.model_copy(update={"serve": planned.serve.model_copy(update={"base_url": base_url})})


def bundle_of(stage: Stage) -> Path:
    """The recorded bundle of both nodes, healthy, at that stage."""
    return BUNDLES / f"{stage}.json.gz"
