"""The real thing: two nodes, Ray on the fabric, a model that answers; and what is said when the launch fails."""

from __future__ import annotations

import re
from pathlib import Path

import httpx
import pytest

from selftests.embedded.leftovers import Footprint
from shakedown.embedded import logs, machine, server
from shakedown.embedded.node import RunningNode
from shakedown.embedded.up import Options, attach, start
from shakedown.errors import LaunchError
from shakedown.inventory.load import load_deployment
from shakedown.outcomes import Stage

pytestmark = pytest.mark.embedded


def commands(node: RunningNode) -> list[str]:
    """Command lines and environments of everything that runs on a node."""
    files = [file for name in ("cmdline", "environ") for file in node.proc.glob(f"[0-9]*/{name}")]
    return [file.read_bytes().decode(errors="replace") for file in files if file.exists()]


def test_a_deployment_comes_up_answers_and_leaves_nothing(runtime: Path) -> None:
    told: list[str] = []
    with start(Options(name="one", owned=True), told.append) as deployment:
        deployment.reach(Stage.SERVING, told.append)
        assert deployment.stage is Stage.SERVING
        assert attach("one").stage is Stage.SERVING
        assert any("Ray starts on node-b" in line for line in told)
        assert re.fullmatch(r" *\d+\.\d s  vLLM: .+", told[-1])

        declared = load_deployment(deployment.file)
        question = {"role": "user", "content": "What is 417 + 386?"}
        answer = httpx.post(
            f"{declared.serve.base_url}/v1/chat/completions",
            json={"model": declared.model.served_name, "messages": [question], "max_tokens": 200, "temperature": 0},
            timeout=60,
        ).json()
        assert answer["choices"][0]["message"]["content"].strip() == "803"
        assert answer["choices"][0]["message"]["reasoning"]

        for node in deployment.nodes:
            lines = commands(node)
            assert [line for line in lines if "raylet" in line and node.plan.fabric in line]
            assert not [line for line in lines if str(machine.ROOT) in line], "a node knows a path of this machine"
        footprint = Footprint.of("one")
    footprint.wait_until_gone()
    assert list(runtime.iterdir()) == []


def test_a_launch_that_fails_says_why_at_once_and_where_the_logs_are(
    runtime: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = runtime / "kept"
    monkeypatch.setattr(logs, "KEPT", kept)
    with start(Options(name="one", owned=True, fault="api-port-taken")) as deployment:
        with pytest.raises(LaunchError) as failed:
            deployment.reach(Stage.SERVING)
        assert "ended before it was ready\nerror in the log: OSError: [Errno 98] Address already in use" in str(
            failed.value
        )
        assert deployment.stage is Stage.RAY
        assert not any("vllm" in line for line in commands(deployment.nodes[0]))
    folder = Path(str(failed.value).rpartition("whatever --reports says: ")[2])
    assert folder.parent == kept
    assert (folder / "node-a" / server.LOG.name).read_text()
    for name in ("node-a", "node-b"):
        assert list((folder / name).glob("session_*/raylet.out"))
