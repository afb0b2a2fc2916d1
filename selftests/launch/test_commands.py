"""The commands of a start say what the deployment file says, whole and unparsed by any shell."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from selftests.inventory.files import GOOD
from selftests.launch.machines import calls, local_pair
from shakedown.errors import LaunchError
from shakedown.inventory.load import load_deployment
from shakedown.inventory.model import Deployment
from shakedown.launch import commands
from shakedown.nodes.answer import Place

LOGGED = 'log = "/var/log/serve.log"\n'


def pair(folder: Path, more: str = "", **changes: str) -> Deployment:
    """The good deployment, with some lines replaced and some added."""
    text = GOOD
    for old, new in changes.items():
        text = text.replace(old, new)
    file = folder / "deployment.toml"
    file.write_text(text + more)
    return load_deployment(file)


def variables(text: str) -> dict[str, str]:
    """What ``env`` sets in a command."""
    words = shlex.split(text)
    after = words[words.index("env") + 1 :]
    return dict(word.split("=", 1) for word in after if word.split("=")[0].isidentifier() and "=" in word)


def test_ray_is_told_the_fabric_on_every_node(tmp_path: Path) -> None:
    deployment = pair(tmp_path)
    head = commands.ray_head(deployment)
    worker = commands.ray_worker(deployment, deployment.workers[0])
    assert "--head --port=6379" in head.text
    assert "--address=192.168.200.12:6379" in worker.text
    for command, address in ((head, "192.168.200.12"), (worker, "192.168.200.13")):
        assert command.ours
        assert command.place is Place.ENGINE
        assert f"--node-ip-address={address}" in command.text
        assert variables(command.text) == {
            "VLLM_HOST_IP": address,
            "GLOO_SOCKET_IFNAME": "fab0",
            "NCCL_SOCKET_IFNAME": "=fab0",
            "RAY_memory_monitor_refresh_ms": "0",
        }


def test_hcas_and_a_threshold_are_handed_on(tmp_path: Path) -> None:
    file = tmp_path / "deployment.toml"
    file.write_text(
        GOOD.replace('interface = "fab0"', 'interface = "fab0"\nhcas = ["mlx5_0", "mlx5_1"]')
        + "[ray]\nmemory_monitor = 0.98\n"
    )
    environment = commands.node_environment(load_deployment(file), load_deployment(file).head)
    assert environment["NCCL_IB_HCA"] == "=mlx5_0,mlx5_1"
    assert environment["RAY_memory_usage_threshold"] == "0.98"
    assert "RAY_memory_monitor_refresh_ms" not in environment


def test_the_servers_options_are_those_of_the_file(tmp_path: Path) -> None:
    more = LOGGED + (
        "gpu_memory_utilization = 0.8\nmax_num_seqs = 16\nmax_num_batched_tokens = 8192\nload_format = "
        '"fastsafetensors"\nkv_cache_dtype = "fp8"\nenforce_eager = true\nreasoning_parser = "qwen3"\n'
        'tool_call_parser = "hermes"\n'
    )
    argv = commands.server_argv(pair(tmp_path, more))
    options = {name: value for name, value in zip(argv, [*argv[1:], ""], strict=True) if name.startswith("--")}
    assert options == {
        "--model": "/models/tiny",
        "--served-model-name": "tiny",
        "--host": "0.0.0.0",
        "--port": "30000",
        "--distributed-executor-backend": "ray",
        "--tensor-parallel-size": "2",
        "--pipeline-parallel-size": "1",
        "--max-model-len": "2048",
        "--gpu-memory-utilization": "0.8",
        "--kv-cache-dtype": "fp8",
        "--load-format": "fastsafetensors",
        "--max-num-seqs": "16",
        "--max-num-batched-tokens": "8192",
        "--reasoning-parser": "qwen3",
        "--tool-call-parser": "hermes",
        "--enforce-eager": "--enable-auto-tool-choice",
        "--enable-auto-tool-choice": "",
    }


def test_what_is_not_declared_is_left_to_the_engine(tmp_path: Path) -> None:
    argv = commands.server_argv(pair(tmp_path, "kv_cache_memory_gib = 1.5\n"))
    assert argv[argv.index("--kv-cache-memory-bytes") + 1] == str(3 * 2**29)
    assert argv[argv.index("--gpu-memory-utilization") + 1] == "0.9"
    left_out = (
        "--kv-cache-dtype",
        "--max-num-seqs",
        "--enforce-eager",
        "--reasoning-parser",
    )
    assert not set(left_out) & set(argv)


def test_a_server_without_a_log_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LaunchError, match=r"serve\.log is not declared"):
        commands.serve(pair(tmp_path))


def test_a_server_with_a_key_needs_it_here(tmp_path: Path) -> None:
    with pytest.raises(LaunchError, match=r"serve\.api_key_env is THE_KEY, but that variable is not set here"):
        commands.serve(pair(tmp_path, LOGGED + 'api_key_env = "THE_KEY"\n'), {})


def test_the_key_stands_in_no_command_line(tmp_path: Path) -> None:
    command = commands.serve(pair(tmp_path, LOGGED + 'api_key_env = "THE_KEY"\n'), {"THE_KEY": "it's secret"})
    assert "secret" not in command.text
    echoed = subprocess.run(
        ["sh", "-s"], input=command.script.splitlines()[0] + '\necho "$VLLM_API_KEY"', capture_output=True, text=True
    )
    assert echoed.stdout == "it's secret\n"


def test_a_log_on_the_machine_of_a_server_in_a_container_is_opened_by_the_machine(tmp_path: Path) -> None:
    container = '[container]\nname = "engine"\n'
    outside = commands.serve(pair(tmp_path, LOGGED + container), {})
    inside = commands.serve(pair(tmp_path, LOGGED + 'log_in = "container"\n' + container), {})
    assert (outside.place, inside.place) == (Place.MACHINE, Place.ENGINE)
    assert outside.text.splitlines()[0] == "exec > /var/log/serve.log"
    assert shlex.split(outside.text.splitlines()[1])[:4] == ["setsid", "docker", "exec", "engine"]
    assert "docker" not in inside.text


def test_the_operators_own_commands_come_first_and_run_on_the_machine(tmp_path: Path) -> None:
    own = '[launch]\nray_head = "head it"\nray_worker = "join it"\nserve = "serve it"\n'
    deployment = pair(tmp_path, own)
    made = [
        commands.ray_head(deployment),
        commands.ray_worker(deployment, deployment.workers[0]),
        commands.serve(deployment, {}),
    ]
    assert [command.text for command in made] == ["head it", "join it", "serve it"]
    assert {command.place for command in made} == {Place.MACHINE}
    assert not any(command.ours for command in made)


@settings(max_examples=40, deadline=None)
@given(st.text(st.characters(exclude_categories=("C", "Z")), min_size=1, max_size=40))
def test_any_value_stays_one_word(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    folder = tmp_path_factory.mktemp("pair")
    deployment = local_pair(folder)
    model = deployment.model.model_copy(update={"served_name": text})
    hostile = deployment.model_copy(
        update={
            "model": model,
            "serve": deployment.serve.model_copy(update={"log": folder / f"log {text[:9]}".replace("/", "_")}),
        }
    )
    subprocess.run(["sh", "-c", commands.serve(hostile, {}).text.removesuffix("&")], check=True, cwd=folder)
    (words,) = calls(folder)
    assert words[words.index("--served-model-name") + 1] == text
    assert sorted(path.name for path in folder.iterdir() if path.name.startswith("log")) == [
        hostile.serve.log.name if hostile.serve.log else ""
    ]
