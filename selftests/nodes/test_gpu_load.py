"""GPUs under load: what was sampled is judged, and the script loads and samples until its time is over."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from shakedown.nodes.active import gpus
from shakedown.nodes.active.gpus import parse_samples
from shakedown.nodes.active.scripts import load_gpus

CLIMBING = ("0, 98, 1500, 220.40, 53, 0x0000000000000004", "0, 98, 1530, 567.82, 58, 0x0000000000000004")
SETTLED = ("0, 98, 1425, 690.70, 60, 0x0000000000000004", "0, 98, 1545, 689.15, 61, 0x0000000000000004")
"""Of an H200 with driver 580.159.04, which keeps to its 700 W by itself."""


def sampled(*lines: str, begin: float = gpus.SETTLED_S) -> list[dict[str, Any]]:
    """One sample a line."""
    return [{"at": begin + 0.5 * number, "gpus": [line]} for number, line in enumerate(lines)]


def test_a_gpu_that_keeps_to_its_power_limit_is_not_held_down() -> None:
    (gpu,) = parse_samples("node-a", [*sampled(*CLIMBING, begin=0.5), *sampled(*SETTLED)])
    assert (gpu.index, gpu.clock_mhz, gpu.slowdowns, gpu.samples) == (0, 1485, (), 2)
    assert gpu.power_w == pytest.approx(689.925)
    assert gpu.celsius == 60.5


def test_what_holds_it_down_for_a_moment_only_does_not_count() -> None:
    hot = "0, 98, 1200, 690.70, 92, 0x0000000000000020"
    assert parse_samples("a", sampled(hot, *SETTLED))[0].slowdowns == ()
    (gpu,) = parse_samples("a", sampled(hot, hot, SETTLED[0]))
    assert gpu.slowdowns == ("software thermal slowdown",)
    assert "software thermal slowdown" in str(gpu)


@pytest.mark.parametrize("line", ["1, 3, 345, 80.45, 30, 0x0000000000000001", "no devices were found", ""])
def test_what_did_not_compute_says_nothing(line: str) -> None:
    assert parse_samples("a", sampled(line, line)) == ()


def test_what_a_gpu_does_not_tell_is_not_known() -> None:
    (gpu,) = parse_samples("a", sampled("0, 96, 2411, [N/A], [N/A]"))
    assert (gpu.clock_mhz, gpu.power_w, gpu.celsius, gpu.slowdowns) == (2411, None, None, ())


TORCH = """
import time
bfloat16 = None
def randn(*_, **__): return []
def empty_like(_): return []
def matmul(*_, **__): time.sleep(0.002)
class cuda:
    is_available = staticmethod(lambda: COUNT > 0)
    device_count = staticmethod(lambda: COUNT)
    @staticmethod
    def synchronize(device):
        if device == "cuda:1": raise RuntimeError("CUDA error: an illegal memory access was encountered\\nand more")
"""
SMI = "#!/bin/sh\ncase $1 in *throttle*) exec echo '0, 98, 1980, 402.5, 60, 0x04' ;; *event*) exit 2 ;; esac\n"


@pytest.mark.parametrize("count", [0, 2])
def test_the_script_loads_every_gpu_and_samples_meanwhile(
    count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a PyTorch that only pretends, whose second GPU breaks, and with a driver that knows the former name."""
    (tmp_path / "torch.py").write_text(f"COUNT = {count}\n{TORCH}")
    (tmp_path / "nvidia-smi").write_text(SMI)
    (tmp_path / "nvidia-smi").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    done = subprocess.run([sys.executable, load_gpus.__file__, "1.2"], capture_output=True, check=True, timeout=30)
    said = json.loads(done.stdout)
    if not count:
        assert said == {"problems": ["PyTorch sees no GPU"], "samples": [], "tflops": []}
        return
    assert said["problems"] == ["CUDA error: an illegal memory access was encountered"]
    assert said["tflops"][0] > 0 == said["tflops"][1]
    assert [sample["gpus"] for sample in said["samples"]] == [["0, 98, 1980, 402.5, 60, 0x04"]] * 3
