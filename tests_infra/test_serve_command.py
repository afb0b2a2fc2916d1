"""The server's command line, as declared for the launch or as it runs, against the deployment file and the engine."""

from __future__ import annotations

import pytest

from fixtures.claim import Claim
from shakedown.engines.vllm.arguments import DATA_PARALLEL, ServeCommand
from shakedown.engines.vllm.commanded import differences
from shakedown.engines.vllm.environment import READY_TIMEOUT, READY_TIMEOUT_DEFAULT_S
from shakedown.engines.vllm.model_shape import own_heads, own_length
from shakedown.inventory.model import Deployment
from shakedown.nodes.memory_plan import kind_of
from shakedown.nodes.ranks import driver_of
from shakedown.nodes.start import DECLARED, Start, start_of
from shakedown.nodes.views.engine import ParserKind
from shakedown.nodes.views.node import NodeViews

pytestmark = pytest.mark.infra

ALWAYS = ("hosts", "ray", "serving")
BEFORE_LAUNCH = ("hosts", "ray")

LENGTHENING = frozenset({"config", "hf-overrides", "hf-config-path", "rope-scaling"})
ALLOWS_LONGER = "VLLM_ALLOW_LONG_MAX_MODEL_LEN"
"""Options and a variable with which the engine takes more tokens than the model's configuration has."""

PLUGINS = {"reasoning": "reasoning-parser-plugin", "tools": "tool-parser-plugin"}


@pytest.fixture
def start(head: NodeViews, deployment: Deployment) -> Start:
    """How the running server was started; before the launch, what ``[launch].serve`` starts, where it is declared."""
    found = start_of(head, deployment)
    if found is None:
        pytest.skip(f"no server runs, and no command that starts vLLM by itself is declared: {DECLARED}")
    return found


@pytest.fixture
def command(start: Start) -> ServeCommand:
    """Its command line."""
    return start.command


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
    start: Start, head: NodeViews, deployment: Deployment, claim: Claim
) -> None:
    """The server's command line gives the model, name, port, sizes and parsers that the deployment file declares."""
    differing = differences(deployment, start.command, own_length(head.model_files.folder.config))
    claim(
        not differing,
        found=f"{start.known_from}: {'; '.join(differing)}",
        expected="what [model] and [serve] of the deployment file declare; memory is judged by the command",
        node=deployment.head.name,
    )


@pytest.mark.check("SRV-12", stages=BEFORE_LAUNCH)
def test_length_is_one_that_the_model_has(start: Start, head: NodeViews, deployment: Deployment, claim: Claim) -> None:
    """The longest request that the command asks for is not longer than what the model was made for."""
    own = own_length(head.model_files.folder.config)
    allowed = driver_of(head, deployment).environment.get(ALLOWS_LONGER, "0") in ("1", "true")
    if own is None or allowed or start.open_ended or LENGTHENING & start.command.options.keys():
        pytest.skip("the model's length is not told, or something else than the model sets it")
    asked = start.command.number("max-model-len")
    claim(
        asked is None or asked <= own,
        found=f"{start.known_from}: --max-model-len {asked}",
        expected=f"at most {own}, max_position_embeddings of config.json",
        node=deployment.head.name,
    )


@pytest.mark.check("SRV-12", stages=BEFORE_LAUNCH)
def test_heads_can_be_shared_among_the_ranks(
    command: ServeCommand, head: NodeViews, deployment: Deployment, claim: Claim
) -> None:
    """Each rank of a tensor-parallel group gets as many of the model's attention heads as the others."""
    heads, ranks = own_heads(head.model_files.folder.config), command.number("tensor-parallel-size")
    if not heads or not ranks:
        pytest.skip("the model's heads or the command's ranks are not told")
    claim(
        heads % ranks == 0,
        found=f"{heads} attention heads for {ranks} ranks",
        expected="a --tensor-parallel-size that divides the heads",
        node=deployment.head.name,
    )


@pytest.mark.check("SRV-08", stages=ALWAYS)
def test_no_sleep_where_memory_is_shared(
    command: ServeCommand, head: NodeViews, deployment: Deployment, claim: Claim
) -> None:
    """Where CPU and GPU share memory, the server is not started with sleep mode, which moves weights between them."""
    if kind_of(head, deployment.profile) != "unified":
        pytest.skip("no accelerator here shares the machine's memory")
    claim(
        "enable-sleep-mode" not in command.options,
        found="--enable-sleep-mode is given",
        expected="no sleep mode: there is no other memory to move the weights to",
        node=deployment.head.name,
    )


@pytest.mark.check("SRV-10", stages=ALWAYS, needs=("RAY-13",))
@pytest.mark.parametrize("kind", ["reasoning", "tools"])
def test_parser_is_one_of_the_engines(kind: ParserKind, head: NodeViews, deployment: Deployment, claim: Claim) -> None:
    """The parsers that the deployment file declares are registered by the installed release."""
    declared = deployment.serve.reasoning_parser if kind == "reasoning" else deployment.serve.tool_call_parser
    start = start_of(head, deployment)
    if declared is None or (start and PLUGINS[kind] in start.command.options):
        pytest.skip(f"no parser for {kind} is declared, or it comes from a plugin")
    known = head.engine.parsers(kind)
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
    command: ServeCommand, head: NodeViews, deployment: Deployment, claim: Claim
) -> None:
    """Where several API servers wait for the engine, they wait longer than the weights will take to load."""
    seconds = deployment.profile.load_s_per_shard
    if seconds is None:
        pytest.skip("the profile does not know how long a shard takes to load: load_s_per_shard")
    driver = driver_of(head, deployment)
    limit = float(driver.environment.get(READY_TIMEOUT, READY_TIMEOUT_DEFAULT_S))
    load = deployment.model.shards * seconds
    claim(
        (command.api_servers or 1) == 1 or limit > load,
        found=f"{command.api_servers} API servers wait {limit:g} s; {deployment.model.shards} shards take {load:g} s",
        expected=f"{READY_TIMEOUT} above {load:g}, or one API server, which waits without a limit "
        f"({deployment.profile.origin('load_s_per_shard')})",
        node=deployment.head.name,
    )
