"""What a command line makes of what the deployment file declares."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shakedown.engines.vllm.arguments import ServeCommand, parse_arguments
from shakedown.engines.vllm.commanded import OPTIONS, as_commanded, differences
from shakedown.inventory.load import load_deployment
from shakedown.inventory.model import Deployment
from shakedown.launch.commands import server_argv
from shakedown.simulator.deployment import FILE

DECLARED = load_deployment(FILE)
NAMED = "--served-model-name shakedown-tiny"
SAME = (
    "--port=30000 -tp 2 --kv-cache-memory-bytes 256M --enforce-eager --reasoning-parser qwen3 "
    f"--tool-call-parser hermes --enable-auto-tool-choice {NAMED}"
)


def command(options: str) -> ServeCommand:
    parsed = parse_arguments(["vllm", "serve", "/run/shakedown/model", *options.split()])
    assert parsed is not None
    return parsed


def test_a_command_that_says_the_same_changes_nothing() -> None:
    assert differences(DECLARED, command(SAME)) == []
    assert as_commanded(DECLARED, command(SAME)) == DECLARED


def test_our_own_command_says_what_the_file_says() -> None:
    own = parse_arguments(server_argv(DECLARED))
    assert own is not None
    assert differences(DECLARED, own) == []


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("--gpu-memory-utilization 0.97", "--gpu-memory-utilization is 0.97, serve.gpu_memory_utilization is 0.9"),
        ("--max-num-seqs 16", "--max-num-seqs is 16, serve.max_num_seqs is not set"),
        ("--max-num-batched-tokens 4k", "--max-num-batched-tokens is 4000, serve.max_num_batched_tokens is not set"),
        ("--kv-cache-dtype fp8", "--kv-cache-dtype is fp8, serve.kv_cache_dtype is auto"),
        ("--load-format fastsafetensors", "--load-format is fastsafetensors, serve.load_format is auto"),
        ("--max-model-len 8192", "--max-model-len is 8192, model.max_model_len is 4096"),
        ("--kv-cache-memory-bytes 1G", "--kv-cache-memory-bytes is 1, serve.kv_cache_memory_gib is 0.25"),
    ],
)
def test_what_is_given_otherwise_is_told(more: str, said: str) -> None:
    assert differences(DECLARED, command(f"{SAME} {more}")) == [said]


def test_an_option_that_is_left_out_stands_at_the_engines_default() -> None:
    given = command(f"{NAMED} --port=30000 -tp 2 --enable-auto-tool-choice --tool-call-parser hermes")
    assert differences(DECLARED, given) == [
        "--kv-cache-memory-bytes is not given (default: not set), serve.kv_cache_memory_gib is 0.25",
        "--enforce-eager is not given (default: False), serve.enforce_eager is True",
        "--reasoning-parser is not given (default: not set), serve.reasoning_parser is qwen3",
    ]


def test_a_name_that_is_left_out_is_that_of_the_folder() -> None:
    said = "--served-model-name is not given (default: /run/shakedown/model), model.served_name is shakedown-tiny"
    assert differences(DECLARED, command(SAME.replace(NAMED, ""))) == [said]
    unknown = parse_arguments(["vllm", "serve", "$MODEL", *SAME.replace(NAMED, "").split()])
    assert unknown is not None
    assert differences(DECLARED, unknown) == []


def test_each_of_several_names_serves() -> None:
    assert differences(DECLARED, command(SAME.replace(NAMED, "--served-model-name first shakedown-tiny"))) == []
    assert as_commanded(DECLARED, command(f"{SAME} {NAMED} more")) == DECLARED


def test_a_length_that_is_left_out_is_the_models_own() -> None:
    assert differences(DECLARED, command(SAME), own_length=4096) == []
    said = "--max-model-len is not given (default: 262144), model.max_model_len is 4096"
    assert differences(DECLARED, command(SAME), own_length=262144) == [said]
    assert differences(DECLARED, command(f"{SAME} --max-model-len 4096"), own_length=262144) == []
    assert as_commanded(DECLARED, command(SAME), 262144).model.max_model_len == 262144


@pytest.mark.parametrize("utilization", [0.9, 0.92])
def test_the_share_that_a_release_takes_by_itself_need_not_be_given(utilization: float) -> None:
    declared = DECLARED.model_copy(
        update={"serve": DECLARED.serve.model_copy(update={"gpu_memory_utilization": utilization})}
    )
    assert differences(declared, command(SAME)) == []


def test_a_size_in_bytes_may_be_rounded_in_the_file() -> None:
    assert differences(DECLARED, command(f"{SAME} --kv-cache-memory-bytes 268000000")) == []


@given(st.sampled_from([option.name for option in OPTIONS]))
def test_what_a_variable_or_a_file_holds_counts_as_declared(name: str) -> None:
    assert as_commanded(DECLARED, command(f"{SAME} --{name} $VALUE")) == DECLARED
    assert as_commanded(DECLARED, command("--config serve.yaml")) == DECLARED


def test_a_switched_parser_of_tools_is_told() -> None:
    found = differences(DECLARED, command(SAME.replace("--enable-auto-tool-choice", "")))
    assert found == ["--enable-auto-tool-choice is not given, so tool_call_parser does nothing"]


def test_a_model_by_another_name_is_another_model() -> None:
    other = parse_arguments(["vllm", "serve", "org/model", *SAME.split()])
    slash = parse_arguments(["vllm", "serve", "/run/shakedown/model/", *SAME.split()])
    assert other is not None
    assert slash is not None
    assert differences(DECLARED, other) == ["the model is org/model, model.path is /run/shakedown/model"]
    assert differences(DECLARED, slash) == []


def test_the_deployment_itself_is_not_changed() -> None:
    before = DECLARED.model_dump()
    changed: Deployment = as_commanded(DECLARED, command("--port 1"))
    assert (changed.serve.port, DECLARED.model_dump()) == (1, before)
