"""The server's command line, as declared for the launch or as it runs, against the deployment file and the engine."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from fixtures.claim import Claim
from shakedown.engines.vllm.arguments import DATA_PARALLEL, ServeCommand
from shakedown.engines.vllm.environment import READY_TIMEOUT, READY_TIMEOUT_DEFAULT_S
from shakedown.engines.vllm.shell import parse_shell
from shakedown.inventory.model import Deployment
from shakedown.nodes.ranks import driver_of
from shakedown.nodes.views.engine import ParserKind
from shakedown.nodes.views.node import NodeViews

pytestmark = pytest.mark.infra

ALWAYS = ("hosts", "ray", "serving")

PLUGINS = {"reasoning": "reasoning-parser-plugin", "tools": "tool-parser-plugin"}


@pytest.fixture
def command(pair: dict[str, NodeViews], deployment: Deployment) -> ServeCommand:
    """The running server's command line; before the launch that of ``[launch].serve``, where it is declared."""
    head = pair[deployment.head.name]
    if head.server.servers:
        return head.server.server.command
    if deployment.launch is None or deployment.launch.serve is None:
        pytest.skip("no server runs, and no command to start one is declared: [launch].serve")
    declared = parse_shell(deployment.launch.serve)
    if declared is None:
        pytest.skip("[launch].serve starts something else than vLLM by itself, such as a script")
    return declared


@pytest.mark.check("ENV-08", stages=ALWAYS)
def test_ranks_are_spread_by_ray(command: ServeCommand, deployment: Deployment, claim: Claim) -> None:
    """The server spreads its ranks over the nodes by Ray, and by nothing else at the same time."""
    executor, nodes = command.value("distributed-executor-backend"), command.number("nnodes")
    by_ray = executor == "ray" or (executor is None and command.value("data-parallel-backend") == "ray")
    given = f"--distributed-executor-backend {executor or 'not given'}, --nnodes {nodes}"
    claim(
        (by_ray and nodes in (1, None)) or "config" in command.options,
        found=given,
        expected=f"--distributed-executor-backend {deployment.serve.executor}, and no --nnodes: that is for `mp`",
        node=deployment.head.name,
    )


@pytest.mark.check("ENV-08", stages=ALWAYS)
def test_ranks_are_as_many_as_accelerators(command: ServeCommand, deployment: Deployment, claim: Claim) -> None:
    """Tensor-parallel times pipeline-parallel times data-parallel size is the number of accelerators of all nodes."""
    sizes = [command.number(name) for name in ("tensor-parallel-size", "pipeline-parallel-size", DATA_PARALLEL)]
    tensor, pipeline, data = (1 if size is None else size for size in sizes)
    gpus = sum(node.gpus for node in deployment.node)
    claim(
        tensor * pipeline * data == gpus or None in sizes,
        found=f"tensor {tensor} x pipeline {pipeline} x data {data} = {tensor * pipeline * data} ranks",
        expected=f"{gpus}, the sum of `gpus` of all nodes",
        node=deployment.head.name,
    )


@pytest.mark.check("SRV-09", stages=ALWAYS)
def test_command_says_what_the_deployment_file_says(
    command: ServeCommand, deployment: Deployment, claim: Claim
) -> None:
    """The server's command line gives the model, name, port, length and parsers that the deployment file declares."""
    differing = list(_differing(command, deployment))
    claim(
        not differing,
        found="; ".join(differing),
        expected="what [model] and [serve] of the deployment file declare",
        node=deployment.head.name,
    )


@pytest.mark.check("SRV-10", stages=ALWAYS, needs=("RAY-13",))
@pytest.mark.parametrize("kind", ["reasoning", "tools"])
def test_parser_is_one_of_the_engines(
    kind: ParserKind, pair: dict[str, NodeViews], deployment: Deployment, claim: Claim
) -> None:
    """The parsers that the deployment file declares are registered by the installed release."""
    declared = deployment.serve.reasoning_parser if kind == "reasoning" else deployment.serve.tool_call_parser
    text = deployment.launch.serve if deployment.launch and deployment.launch.serve else ""
    if declared is None or PLUGINS[kind] in text.replace("_", "-"):
        pytest.skip(f"no parser for {kind} is declared, or it comes from a plugin")
    known = pair[deployment.head.name].engine.parsers(kind)
    if known is None:
        pytest.skip("this release keeps the names of its parsers where they cannot be read without importing it")
    claim(
        declared in known,
        found=f"{declared} is none of {', '.join(known)}",
        expected="a parser of the installed release",
        node=deployment.head.name,
    )


@pytest.mark.check("SRV-07", stages=ALWAYS)
def test_front_end_waits_longer_than_the_load_takes(
    command: ServeCommand, pair: dict[str, NodeViews], deployment: Deployment, claim: Claim
) -> None:
    """Where several API servers wait for the engine, they wait longer than the weights will take to load."""
    seconds = deployment.profile.load_s_per_shard
    if seconds is None:
        pytest.skip("the profile does not know how long a shard takes to load: load_s_per_shard")
    driver = driver_of(pair[deployment.head.name], deployment)
    limit = float(driver.environment.get(READY_TIMEOUT, READY_TIMEOUT_DEFAULT_S))
    load = deployment.model.shards * seconds
    claim(
        (command.api_servers or 1) == 1 or limit > load,
        found=f"{command.api_servers} API servers wait {limit:g} s; {deployment.model.shards} shards take {load:g} s",
        expected=f"{READY_TIMEOUT} above {load:g}, or one API server, which waits without a limit",
        node=deployment.head.name,
    )


def _differing(command: ServeCommand, deployment: Deployment) -> Iterator[str]:
    """What is given otherwise than declared; what is not given, or not known, is no difference."""
    model, serve = deployment.model, deployment.serve
    names = (command.value("served-model-name") or model.served_name).split()
    parallel = (serve.tensor_parallel, serve.pipeline_parallel)
    compared = (
        ("model", command.model if "$" not in (command.model or "$") else None, str(model.path)),
        ("--served-model-name", names[0] if names else None, model.served_name),
        ("--port", command.number("port"), serve.port),
        ("--max-model-len", command.number("max-model-len"), model.max_model_len),
        ("--tensor-parallel-size", command.number("tensor-parallel-size"), parallel[0]),
        ("--pipeline-parallel-size", command.number("pipeline-parallel-size"), parallel[1]),
        ("--reasoning-parser", command.value("reasoning-parser"), serve.reasoning_parser),
        ("--tool-call-parser", command.value("tool-call-parser"), serve.tool_call_parser),
    )
    for option, given, declared in compared:
        if given is not None and given != declared:
            yield f"{option} is {given}, declared is {declared}"
    if serve.tool_call_parser and "enable-auto-tool-choice" not in command.options and "config" not in command.options:
        yield "--enable-auto-tool-choice is not given, so tool_call_parser does nothing"
    if serve.reasoning_parser and command.value("reasoning-parser") is None and "config" not in command.options:
        yield f"--reasoning-parser is not given, declared is {serve.reasoning_parser}"
