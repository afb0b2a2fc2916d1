"""Time to first token and per token, ours and `vllm bench serve`, against a server whose times are known; in one run.

    .venv/bin/python -m benchmarks.ttft_against_vllm_bench [--concurrency N] [--requests N]

The server is the simulator: it sends the role at once, as proxies and other servers do, and every token when it is due.
vLLM's client is taken from `.venv-engine` where that exists, by its module: the `vllm` command of the CPU package does
not start. Both clients send the same number of requests of the same length, one after the other.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import tempfile
from pathlib import Path

from shakedown.load import metrics
from shakedown.load.engine import ClosedLoop, run_load
from shakedown.load.target import Target
from shakedown.load.workload import Shape, compose
from shakedown.simulator.run import running_simulator
from shakedown.simulator.settings import MODEL_FOLDER

ROOT = Path(__file__).resolve().parents[1]
ENGINE_PYTHON = ROOT / ".venv-engine" / "bin" / "python"
NAME = "shakedown-tiny"
TTFT_S, ITL_S = 0.2, 0.01
SHAPE = Shape(input_tokens=64, output_tokens=64)
VLLM_BENCH = """
import argparse
from vllm.benchmarks.serve import add_cli_args, main
parser = argparse.ArgumentParser()
add_cli_args(parser)
main(parser.parse_args())
"""


def main() -> None:
    """Measure with both, print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--concurrency", type=int, default=4)
    parser.add_argument("--requests", type=int, default=40)
    arguments = parser.parse_args()
    with running_simulator(ttft_s=TTFT_S, itl_s=ITL_S) as simulator:
        truth, ours = with_ours(simulator.base_url, arguments.requests, arguments.concurrency)
        theirs = None
        if ENGINE_PYTHON.exists():
            theirs = with_vllm(simulator.base_url, arguments.requests, arguments.concurrency)
    print(f"{arguments.requests} requests, {arguments.concurrency} at once, {SHAPE.output_tokens} tokens each")
    print(f"{'':24}{'TTFT p50':>12}{'error':>12}{'TPOT p50':>12}{'error':>12}")
    row("truth", truth, truth)
    row("shakedown", ours, truth)
    if theirs is None:
        print("vllm bench serve: no .venv-engine; make it with `make setup-engine`")
        return
    row("vllm bench serve", theirs, truth)
    ratio = abs(theirs[0] - truth[0]) / max(abs(ours[0] - truth[0]), 1e-6)
    print(f"error of TTFT: vllm bench serve over shakedown {ratio:.0f} times")


def row(name: str, seen: tuple[float, float], truth: tuple[float, float]) -> None:
    """One line: both times and how far they are from the truth, ms."""
    cells = [cell for value, true in zip(seen, truth, strict=True) for cell in (value, value - true)]
    print(f"{name:24}" + "".join(f"{cell * 1000:9.2f} ms" for cell in cells))


def with_ours(url: str, requests: int, concurrency: int) -> tuple[tuple[float, float], tuple[float, float]]:
    """(truth, what we measure), each (TTFT, TPOT) as medians, s.

    The opening tag of the reasoning is a token that nobody is sent: the first one that arrives is due a step later.
    """
    target = Target(url, NAME)
    bodies = compose(target, SHAPE, concurrency + requests, seed=1)
    run_load(target, bodies[:concurrency], ClosedLoop(concurrency, stagger_s=0.0))
    run = run_load(target, bodies[concurrency:], ClosedLoop(concurrency))
    found = metrics.metrics_of(run)
    ttft, tpot, cpu = (found[name].value for name in ("ttft_s.p50", "tpot_s.p50", "client_cpu_s_per_request"))
    unseen = statistics.median((record.tokens[0].tokens_so_far or 1) - 1 for record in run.records)
    assert ttft is not None
    assert tpot is not None
    assert cpu is not None
    print(f"shakedown: {cpu * 1000:.1f} ms of CPU a request, {cpu / SHAPE.output_tokens * 1e6:.0f} us a token")
    return (TTFT_S + unseen * ITL_S, ITL_S), (ttft, tpot)


def with_vllm(url: str, requests: int, concurrency: int) -> tuple[float, float]:
    """What `vllm bench serve` reports: (TTFT, TPOT) as medians, s."""
    with tempfile.TemporaryDirectory() as folder:
        options = {
            "--backend": "openai-chat",
            "--base-url": url,
            "--endpoint": "/v1/chat/completions",
            "--model": NAME,
            "--tokenizer": str(MODEL_FOLDER),
            "--dataset-name": "random",
            "--random-input-len": str(SHAPE.input_tokens),
            "--random-output-len": str(SHAPE.output_tokens),
            "--num-prompts": str(requests),
            "--max-concurrency": str(concurrency),
            "--result-dir": folder,
            "--result-filename": "result.json",
        }
        command = [str(ENGINE_PYTHON), "-c", VLLM_BENCH, *(text for pair in options.items() for text in pair)]
        done = subprocess.run(
            [*command, "--ignore-eos", "--save-result"],
            env={**os.environ, "HF_HUB_OFFLINE": "1"},
            capture_output=True,
            text=True,
            check=False,
        )
        result = Path(folder) / "result.json"
        if not result.exists():
            raise SystemExit(f"vllm bench serve left no result (exit {done.returncode}):\n{done.stderr[-2000:]}")
        said = json.loads(result.read_text())
    return said["median_ttft_ms"] / 1000, said["median_tpot_ms"] / 1000


if __name__ == "__main__":
    main()
