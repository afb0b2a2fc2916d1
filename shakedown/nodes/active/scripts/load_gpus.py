# revision: 1
"""Keeps every GPU busy that PyTorch sees, and asks nvidia-smi meanwhile at what clocks they run; as JSON.

Argument: seconds. Each GPU multiplies two matrices over and over, which takes half a GiB of its memory.
"""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
import threading
import time
from typing import Any

SIDE = 8192
"""Of the matrices: the largest GPU is busy for milliseconds with a product of this size."""

ROUNDS = 10
"""Products between two looks at the clock."""

EVERY_S = 0.5
FIELDS = "index,utilization.gpu,clocks.sm,power.draw,temperature.gpu"
REASONS = ("clocks_event_reasons.active", "clocks_throttle_reasons.active")
"""The name that the field has had since 2023, and the one before."""


class Load(threading.Thread):
    """Multiplies on one GPU until it is told to stop.

    Attributes:
        products: so far.
        problem: why it ended by itself; empty if it did not.
    """

    def __init__(self, torch: Any, device: int, stop: threading.Event) -> None:
        super().__init__(daemon=True)
        self._torch = torch
        self._device = f"cuda:{device}"
        self._stop_now = stop
        self.products = 0
        self.problem = ""

    def run(self) -> None:
        """Multiply."""
        torch = self._torch
        try:
            one, other = (torch.randn(SIDE, SIDE, dtype=torch.bfloat16, device=self._device) for _ in range(2))
            result = torch.empty_like(one)
            while not self._stop_now.is_set():
                for _ in range(ROUNDS):
                    torch.matmul(one, other, out=result)
                torch.cuda.synchronize(self._device)
                self.products += ROUNDS
        except RuntimeError as error:  # what PyTorch raises for all that a GPU cannot do
            self.problem = str(error).splitlines()[0]


def query(fields: str) -> str | None:
    """What nvidia-smi says, a line a GPU; None where it refuses."""
    command = ["nvidia-smi", f"--query-gpu={fields}", "--format=csv,noheader,nounits"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    return done.stdout.decode(errors="replace") if done.returncode == 0 else None


def load(torch: Any, seconds: float) -> dict[str, Any]:
    """What was seen while all GPUs were busy."""
    fields = next((f"{FIELDS},{reasons}" for reasons in REASONS if query(f"index,{reasons}")), FIELDS)
    stop = threading.Event()
    loads = [Load(torch, device, stop) for device in range(torch.cuda.device_count())]
    began = time.monotonic()
    for one in loads:
        one.start()
    samples = []
    while time.monotonic() - began < seconds:
        time.sleep(EVERY_S)
        said = query(fields)
        if said is not None:
            samples.append({"at": round(time.monotonic() - began, 3), "gpus": said.splitlines()})
    stop.set()
    for one in loads:
        one.join()
    took = time.monotonic() - began
    return {
        "samples": samples,
        "tflops": [round(one.products * 2 * SIDE**3 / took / 1e12, 3) for one in loads],
        "problems": [one.problem for one in loads if one.problem],
    }


def main() -> None:
    """Print the answer."""
    torch = importlib.import_module("torch")
    said: dict[str, Any] = {"samples": [], "tflops": [], "problems": ["PyTorch sees no GPU"]}
    if torch.cuda.is_available():
        said = load(torch, float(sys.argv[1]))
    json.dump(said, sys.stdout, sort_keys=True)


if __name__ == "__main__":
    main()
